"use strict";
player(document.getElementById("film"), JSON.parse(document.getElementById("data").textContent));
