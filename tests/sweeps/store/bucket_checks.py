"""What a bucket of any kind does, whichever server it is on."""

from sweeps.run import here
from sweeps.store import Store, check_and_repair, locate
from tests.sweeps.fourbar import FourBar, spec


def check_conditions(there):
    """Creation, replacement and listing, of an empty prefix; one object is left out at the end."""
    assert there.get("a") is None
    assert there.create("a", b"1")
    assert not there.create("a", b"2")
    _, tag, _ = there.get_tagged("a")
    now = there.try_put("a", b"3", tag)
    assert now is not None
    assert there.try_put("a", b"4", tag) is None
    assert there.get("a") == b"3"
    there.put_folder((f"b/c/{number}/0", bytes([number])) for number in range(70))
    assert there.chunks("b", 2) == set(range(70))
    assert there.get("b/c/69/0") == b"E"
    assert set(there.names("")) == {"a", "b"}
    there.remove("a")
    there.remove("a")
    assert there.get("a") is None
    return tag


def check_sweep(place, folder):
    """By two parts: every array that of a folder, bit for bit."""
    places = [locate(place), folder]
    for one in places:
        job = spec(one, count=48, chunk=8)
        filling = here.prepare(job, evaluator=FourBar())
        for number in (1, 2):
            here.part(job, number, 2, filling=lambda made=filling: made)
    ours, theirs = map(Store.open, places)
    assert set(ours) == set(theirs)
    for name in theirs:
        assert ours[name][:].tobytes() == theirs[name][:].tobytes(), name
    assert check_and_repair.find(places[0]) == []
