"""The first that the server of workers imports: what comes now lives as long as they do."""

import gc

gc.disable()  # to look for garbage among it is an eighth of the server's start
