"use strict";
{
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = explorer(document.getElementById("explorer"), data);
  if (data.follow) follow(page, data.follow, data);
}
