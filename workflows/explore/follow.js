"use strict";
// A page that was served follows its store: it asks for what is new, and says what it has.
function follow(page, {stamp, done}, data) {
  const OFTEN = 2000, PATIENT = 10, said = document.getElementById("subject");
  const note = element("p", "", said.parentElement, {className: "subject", id: "follow"});
  note.setAttribute("role", "status");
  const now = () => new Date().toLocaleTimeString();
  let known = stamp;

  function tell(it) { note.textContent = it.done ? `All ${it.settled.toLocaleString("en")} variants are settled.` : `Following: ${it.settled.toLocaleString("en")} settled at ${now()}.`; }
  async function look() {
    const began = performance.now();
    let answer = null, it = null;
    try { answer = await fetch(`data?known=${known}`, {cache: "no-store"}); } catch (error) { note.textContent = `The program that served this page has ended; what is shown is of ${now()}.`; return; }
    if (answer.status === 200) {
      const more = await answer.json();
      it = more.follow;
      if (page.state.dragging) { setTimeout(look, OFTEN); return; }
      known = it.stamp;
      page.take(more);
      tell(it);
    } else if (answer.status === 503) note.textContent = `${await answer.text()} Asking again.`;
    // A store that takes long to read is asked less often.
    if (!it || !it.done) setTimeout(look, Math.max(OFTEN, PATIENT * (performance.now() - began)));
  }
  tell(data.follow);
  if (!done) setTimeout(look, OFTEN);
}
