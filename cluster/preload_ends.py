"""The last that the server of workers imports: its copies look for garbage among their own."""

import gc

gc.freeze()  # else each copy's first full collection takes 0.1 s, and copies every page
gc.enable()
