"use strict";
// A page that was served follows its store: it asks for what is new, and says what it has.
function follow(page, {stamp, done}, data) {
  // Milliseconds between questions; at most a tenth of the time is spent on answers; questions
  // without an answer, one after the other, before the program is taken for ended.
  const OFTEN = 2000, PATIENT = 10, TRIES = 3, said = document.getElementById("subject");
  const note = element("p", "", said.parentElement, {className: "subject", id: "follow"});
  note.setAttribute("role", "status");
  const now = () => new Date().toLocaleTimeString();
  let known = stamp, missed = 0, taken = now();

  function tell(it) { note.textContent = it.done ? `All ${it.settled.toLocaleString("en")} variants are settled.` : `Following: ${it.settled.toLocaleString("en")} settled at ${taken}.`; }
  async function look() {
    const began = performance.now();
    let answer = null, it = null, more = null;
    try {
      answer = await fetch(`data?known=${known}`, {cache: "no-store"});
      more = answer.status === 200 ? await answer.json() : null;
      missed = 0;
    } catch (error) {
      missed += 1;
      if (missed < TRIES) setTimeout(look, OFTEN);
      else note.textContent = `The program that served this page has ended; what is shown is of ${taken}.`;
      return;
    }
    if (more) {
      it = more.follow;
      if (page.state.dragging) { setTimeout(look, OFTEN); return; }
      known = it.stamp;
      page.take(more);
      taken = now();
      tell(it);
    } else if (answer.status === 503) note.textContent = `${await answer.text()} Asking again.`;
    // A store that takes long to read is asked less often.
    if (!it || !it.done) setTimeout(look, Math.max(OFTEN, PATIENT * (performance.now() - began)));
  }
  tell(data.follow);
  if (!done) setTimeout(look, OFTEN);
}
