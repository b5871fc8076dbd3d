from .film import Film as Film
from .film import film as film
from .page import frame as frame
from .page import page as page
from .write import check_ending as check_ending
from .write import write as write
