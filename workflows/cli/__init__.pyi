from . import main as main
