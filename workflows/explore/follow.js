"use strict";
// A page that was served follows its store: it asks for what is new, and says what it has.
function follow(page, {stamp, done}, data) {
  // Milliseconds between questions; at most a tenth of the time is spent on answers; questions
  // without an answer, one after the other, before the program is taken for ended.
  const OFTEN = 2000, PATIENT = 10, TRIES = 3, said = document.getElementById("subject");
  const note = element("p", "", said.parentElement, {className: "subject", id: "follow"});
  note.setAttribute("role", "status");
  const now = () => new Date().toLocaleTimeString();
  let known = stamp, missed = 0, taken = now(), last = data.follow;

  function tell(it) { note.textContent = it.done ? `All ${it.settled.toLocaleString("en")} variants are settled.` : `Following: ${it.settled.toLocaleString("en")} settled at ${taken}.`; }
  async function look() {
    const began = performance.now();
    let done = false;
    try {
      if (!page.state.dragging) done = await renewed();
      missed = 0;
    } catch (error) {
      missed += 1;
      if (missed >= TRIES) {
        note.textContent = `The program that served this page has ended; what is shown is of ${taken}.`;
        return;
      }
    }
    // A store that takes long to read is asked less often.
    if (!done) setTimeout(look, Math.max(OFTEN, PATIENT * (performance.now() - began)));
  }
  // Whether all is done; an answer that is none, as of another program at this address, throws.
  async function renewed() {
    const answer = await fetch(`data?known=${known}`, {cache: "no-store"});
    if (answer.status === 503) {
      note.textContent = `${await answer.text()} Asking again.`;
      return false;
    }
    if (answer.status === 200) {
      const more = await answer.json();
      last = more.follow;
      page.take(more);
      known = last.stamp;
      taken = now();
    } else if (answer.status !== 204) throw new Error(answer.statusText);
    tell(last);
    return last.done;
  }
  tell(data.follow);
  if (!done) setTimeout(look, OFTEN);
}
