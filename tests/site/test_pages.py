"""The site as `mkdocs build --strict` writes it: nothing dead, nothing missing, search offline."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import basepar
from tests.campaigns.site_pages import looked_at, wrong
from tests.workflows import browser
from workflows.cli.main import MODULES

pytest.importorskip("mkdocs")  # the extra `docs`, which .ci/run installs for these tests
pytestmark = pytest.mark.slow
TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("site")
    told = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place)],
        cwd=TOP,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    return place


def test_nothing_is_loaded_from_elsewhere(site):
    loading = re.compile(r'(?:src|<link[^>]*href)="(https?://[^"]*)"')
    found = {
        (path.name, address)
        for path in site.rglob("*.html")
        for address in loading.findall(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_every_public_name_and_command_has_its_page(site):
    python = "".join(p.read_text(encoding="utf-8") for p in (site / "python").glob("*.html"))
    names = [name for name in basepar.__all__ if name != "__version__"]
    assert [name for name in names if f'id="basepar.{name}"' not in python] == []
    commands = [one.name for module in MODULES for one in module.COMMANDS]
    assert [name for name in commands if not (site / f"commands/{name}.html").exists()] == []


FOUND = """new Promise(done => {
    const look = () => {
        const found = document.querySelectorAll(".md-search-result__item").length;
        found ? done(found) : setTimeout(look, 50);
    };
    look();
})"""


@pytest.mark.skipif(browser.executable() is None, reason="no Chromium here")
def test_search_works_without_a_server(site):
    """From a folder, as who was sent the site opens it."""
    deeds = (
        "document.querySelector('label[for=__search]').click()",
        "document.querySelector('[data-md-component=search-query]').focus()",
        ("Input.insertText", {"text": "pin_slot"}),
    )
    with browser.browser() as chromium:
        seen = chromium.show(
            site / "index.html", width=1280, scheme="light", deeds=deeds, script=FOUND
        )
    assert seen.facts > 0
    assert seen.complaints == []
    assert [one for one in seen.requests if one.startswith("http")] == []


#: Of every kind one, those with the widest tables, formulas, code and pictures among them.
LOOKED_AT = (
    "index.html",
    "mechanism-files.html",
    "campaigns.html",
    "robots.html",
    "studies-gallery.html",
    "theory/2-base-parameters.html",
    "tutorials/suspension.html",
    "coming-from/pinocchio.html",
    "commands/base.html",
    "python/analyses.html",
    "library/sla-suspension.html",
    "decisions/0145-large-robots.html",
)


@pytest.mark.skipif(browser.executable() is None, reason="no Chromium here")
def test_pages_fit_wide_and_narrow_light_and_dark(site):
    """The campaign looks at all pages."""
    assert wrong(looked_at(site, pages=LOOKED_AT)) == []
