"""Four-bar paths of papers: points, ranges and evaluations, and the designs that they print.

Where the numbers come from:

- [N] the repository of Nguyen-Van, Lieu, Nguyen Xuan-Mung and Nguyen, Symmetry 14:381 (2022),
  github.com/sy-nguyen-van/DE_Jaya_Synthesis_Four_Bar_Mechanisms: points, ranges, evaluations, its
  own designs with their errors (`x_best_HCDJ_*`, `Records_HCDJ_*`), and (`Check*.m`) those of
  Kunjur and Krishnamurty (1997), Cabrera, Simon, Prado (2002), Acharyya and Mandal (2009), MUMSA
  (Cabrera, Ortiz, Nadal and Castillo, 2011), one named IOA there, and Lin and Hsiao (2017);
- [K] the repository of the crate four-bar, github.com/KmolYuan/four-bar-rs, `test-fb`: points
  and designs of Bulatović, Miodragović and Bošković, Mechanism and Machine Theory 95 (2016), and
  of Yu, Tang and Wang, ibid. 42 (2007).

`error` is the sum of squares that [N] states for a design: recomputed, it is this to its digits.
"""

from dataclasses import dataclass

import numpy as np

NAMES = ("r1", "r2", "r3", "r4", "cx", "cy", "x0", "y0", "th")


@dataclass(frozen=True)
class Printed:
    """A design by NAMES, m and rad; `crank` its angles from the fixed line, where it states them.

    `side` is 1 or -1, the assembly's; `start` is of a stated timing with a free start.
    """

    who: str
    design: tuple[float, ...]
    crank: tuple[float, ...] = ()
    start: float = 0.0
    side: int = 1
    error: float | None = None


@dataclass(frozen=True)
class Case:
    """Points to be met, as a paper has them.

    Attributes
    ----------
    points
        As complex numbers.
    bars, rest
        Ranges of r1 to r4; of cx, cy, x0, y0.
    turns
        Angles of the crank from its start, rad; None: free, but in order.
    start
        Of the crank from the fixed line, where the timing is stated; None: free.
    held
        Whether the fixed line is the x axis from the origin.
    evaluations
        As in [N], of ours no more.
    own
        Whether ranges are ours, the paper's not known.
    """

    points: np.ndarray
    bars: tuple[float, float]
    rest: tuple[float, float]
    evaluations: int
    printed: tuple[Printed, ...]
    turns: np.ndarray | None = None
    start: float | None = 0.0
    held: bool = False
    own: bool = False

    @property
    def size(self) -> float:
        """Greatest distance of a point from their middle."""
        return float(np.abs(self.points - self.points.mean()).max())


def _plane(text: str) -> np.ndarray:
    return np.array(text.split(), float).reshape(-1, 2) @ [1, 1j]


def _printed(who: str, text: str, **others: object) -> Printed:
    numbers = tuple(map(float, text.split()))
    return Printed(who, numbers[:9], numbers[9:], **others)  # type: ignore[arg-type]


def _held(who: str, text: str, **others: object) -> Printed:
    return _printed(who, f"{text} 0 0 0", **others)


def _started(who: str, text: str, **others: object) -> Printed:
    one = _printed(who, text)
    return Printed(who, one.design, (), one.crank[0], **others)  # type: ignore[arg-type]


def _polar(who: str, text: str) -> Printed:
    """As in [K]: place, angle and lengths, then the coupler's point by length and angle."""
    x0, y0, th, r1, r2, r3, r4, size, turn = map(float, text.split())
    point = size * np.exp(1j * turn)
    return Printed(who, (r1, r2, r3, r4, point.real, point.imag, x0, y0, th))


KUNJUR, CABRERA = "Kunjur, Krishnamurty 1997", "Cabrera et al. 2002"
MANDAL, MUMSA = "Acharyya, Mandal 2009", "Cabrera et al. 2011 (MUMSA)"
LIN, NGUYEN = "Lin, Hsiao 2017", "Nguyen-Van et al. 2022"
BULATOVIC, YU = "Bulatović et al. 2016", "Yu et al. 2007"
IOA, UNNAMED = "IOA, as [N] calls it", "not named in [N]"

_LOOP = """0.5 1.1  0.4 1.1  0.3 1.1  0.2 1.0  0.1 0.9  0.05 0.75  0.02 0.6  0.0 0.5  0.0 0.4
0.03 0.3  0.1 0.25  0.15 0.2  0.2 0.3  0.3 0.4  0.4 0.5  0.5 0.7  0.6 0.9  0.6 1.0"""
_ELLIPSE = """20 10  17.66 15.142  11.736 17.878  5 16.928  0.60307 12.736  0.60307 7.2638
5 3.0718  11.736 2.1215  17.66 4.8577  20 10"""
_ARC = "3 3  2.759 3.363  2.372 3.663  1.890 3.862  1.355 3.943"
_HALF = "0 0  1.9098 5.8779  6.9098 9.5106  13.09 9.5106  18.09 5.8779  20 0"
_TWELVE = """4.15 2.21  4.5 2.18  4.53 1.83  4.13 1.68  3.67 1.58  2.96 1.33  2.67 1.06  2.63 0.82
2.92 0.81  3.23 1.07  3.49 1.45  3.76 1.87"""
_CORNER = """7.03 5.99  6.95 5.45  6.77 5.03  6.4 4.6  5.91 4.03  5.43 3.56  4.93 2.94  4.67 2.6
4.38 2.2  4.04 1.67  3.76 1.22  3.76 1.97  3.76 2.78  3.76 3.56  3.76 4.34  3.76 4.91  3.76 5.47
3.8 5.98  4.07 6.4  4.53 6.75  5.07 6.85  5.05 6.84  5.89 6.83  6.41 6.8  6.92 6.58"""
_LEAF = """-27 1  -21.857 -3.214  -16.7 -7.428  -11.571 -11.642  -6.428 -15.857  -1.285 -20.071
3.857 -24.285  9 -28.5  15 -29.9  20 -30  27.2 -25  29.2 -20  28 -10  22.7 2  15 10.6  5 16.5
-10 19.6  -22 17  -28 11  -29 5"""
_EIGHT = """-24 40  -30 41  -34 40  -38 36  -36 30  -28 29  -21 31  -17 32  -8 34  3 37  10 41
17 41  26 39  28 33  29 26  26 23  17 23  11 24  6 27  0 31"""

_ON_HALF = (
    _printed(UNNAMED, "49.994859 5 5.915643 49.994867 18.925715 0 14.472475 -12.494409 0.467287"),
    _printed(UNNAMED, "50 5 5.905345 50 18.819312 0 14.373772 -12.444295 0.463633"),
    _printed(
        UNNAMED,
        "50 5 7.031047 48.134183 16.976687 12.952139 12.197494 -15.998203 0.0428247",
    ),
)
CASES = {
    "line": Case(
        20 + 1j * np.arange(20, 46, 5),
        (5.0, 60.0),
        (-60.0, 60.0),
        100_000,
        (
            _printed(
                f"{CABRERA}, GA",
                "39.46629 8.56291 19.09486 47.83886 13.38556 12.21961 29.7225 23.4545 6.20163 "
                "6.11937 0.19304 0.44083 0.68467 0.95835 1.35533",
            ),
            _printed(
                f"{MANDAL}, GA",
                "28.77133 5 35.36548 59.13681 0 14.85037 29.91329 32.60228 5.28747 "
                "6.28319 0.31821 0.63852 0.97995 1.41273 2.07625",
            ),
            _printed(
                f"{MANDAL}, PSO",
                "31.15501 5 23.84561 45.80352 39.00066 18.50846 59.99999 17.91696 0.41984 "
                "4.84241 0.40468 0.65742 0.92209 1.24707 2.29873",
            ),
            _printed(
                f"{MANDAL}, DE",
                "35.02074 6.4042 31.60722 50.59949 20.80324 41.54364 60 18.07791 0 "
                "6.28319 0.26494 0.50038 0.73532 0.99653 1.33355",
                error=0.122738**2,
            ),
            _printed(
                MUMSA,
                "31.78826 8.20465 24.93213 31.38593 34.19372 14.41567 -6.36652 56.83676 4.01596 "
                "1.36655 2.33077 2.87104 3.39459 3.97096 4.96349",
            ),
            _printed(
                IOA,
                "54.71582 18.73099 31.2231 42.22374 -27.29874 31.65051 43.07086 27.41706 5.97746 "
                "6.42411 6.53496 0.3623 0.46906 0.57765 0.69047",
            ),
            _printed(
                LIN,
                "45.95402687932 10.141335228399 36.11986160022 49.79055706368 51.493523108216 "
                "16.495730283634 59.925189496224 -0.2672551778894 0.8623849541875 "
                "4.4968313984955 3.9468529220684 3.5120853909802 3.1107812488088 2.7101093119519 "
                "2.2654986625734",
                error=4.06717e-12,
            ),
            _printed(
                LIN,
                "18.130477459742 8.5119056360364 50.526111039003 47.416511362171 51.693212922846 "
                "-59.970696484997 -50.663202006974 44.524826916471 5.8015503547832 "
                "2.2103259563508 2.5015487447409 2.7899717373128 3.0771308560492 3.3637809760416 "
                "3.6514510097496",
            ),
            _printed(
                NGUYEN,
                "14.201369 8.0143127 16.309922 12.253871 27.797721 11.305412 -2.309531 45.695083 "
                "4.5172417 6.2532447 2.4038981 2.9362397 3.4905751 4.0650776 5.2095019",
            ),
            _printed(
                UNNAMED,
                "11.0589 5.73008 37.0136 35.3495 25.5468 40.5565 -22.2008 26.7225 0.3548 "
                "2.1675 2.62985 3.08829 3.54934 4.01092 4.47837",
                side=-1,
            ),
        ),
    ),
    "arc": Case(
        _plane(_ARC),
        (0.05, 50.0),
        (-50.0, 50.0),
        5_000,
        (
            _held(KUNJUR, "3.509643 1.857606 4.725835 3.518721 1.959538 1.558898"),
            _held(CABRERA, "3.0630424 1.9959624 3.305823 2.524706 1.645158 1.708959"),
            _held(MUMSA, "3.77326856 2.00000403 4.11697104 2.74615671 1.67848787 1.67098007"),
            _held(IOA, "2.803607 1.99226 3.030461 2.474117 1.64413 1.714536", error=4.27e-6),
            _held(
                NGUYEN,
                "4.2930812 1.9978324 4.7374099 2.9417301 1.7074051 1.6441696",
                error=1.9239e-6,
            ),
        ),
        np.arange(5) * np.pi / 12,
        np.pi / 6,
        held=True,
    ),
    "loop": Case(
        _plane(_LOOP),
        (0.05, 50.0),
        (-50.0, 50.0),
        5_000,
        (
            _started(
                KUNJUR,
                "1.87966 0.274853 1.180253 2.138209 -0.833592 -0.37877 1.132062 0.663433 4.354224 "
                "2.558625",
            ),
            _started(
                CABRERA,
                "3.057878 0.237803 4.828954 2.056456 0.767038 1.850828 1.776808 -0.641991 "
                "1.002168 0.226186",
                error=0.03375,
            ),
            _started(
                MUMSA,
                "4.453772 0.297057 3.913095 0.849372 -2.067338 1.6610626 -1.309243 2.806964 "
                "2.7387359 4.853543",
            ),
            _started(
                IOA,
                "4.040435 0.245216 6.38294 2.620532 1.139106 1.866109 1.891805 -0.761339 1.187751 "
                "0",
            ),
            _started(
                NGUYEN,
                "49.800886 0.28817159 48.476138 1.633642 -23.41281 7.6644886 -14.836153 20.140223 "
                "2.5286091 5.0644224",
                error=1.6078e-2,
            ),
        ),
        np.arange(18) * np.pi / 9,
        None,
    ),
    "loop, evaluations not known": Case(
        _plane(_LOOP),
        (0.05, 50.0),
        (-50.0, 50.0),
        50_000,
        (
            _polar(
                BULATOVIC,
                "0.26886 0.17715 0.29294 1.00429 0.42180 0.87821 0.58013 0.5234 0.8148",
            ),
        ),
        np.arange(18) * np.pi / 9,
        None,
        own=True,
    ),
    "half circle": Case(
        _plane(_HALF),
        (0.05, 50.0),
        (-50.0, 50.0),
        50_000,
        (
            *_ON_HALF,
            _printed(
                UNNAMED,
                "49.999217 1.3476638 1.3476825 49.999235 11.383058 4.4426855 10.1944353 "
                "-3.6925458 6.2157809",
                error=1.216,
            ),
            _printed(
                UNNAMED,
                "49.968967 4.785659 6.491026 48.393942 16.444782 11.988091 12.046587 -14.774897 "
                "0.038678",
            ),
            _printed(
                NGUYEN,
                "49.99998 1.3484315 1.3484507 50 11.384434 4.4424357 10.194752 -3.694134 "
                "6.2158799",
                error=1.21621,
            ),
        ),
        np.arange(6) * np.pi / 6,
        np.pi / 6,
    ),
    "half circle, bars from 5": Case(
        _plane(_HALF),
        (5.0, 50.0),
        (-50.0, 50.0),
        50_000,
        _ON_HALF,
        np.arange(6) * np.pi / 6,
        np.pi / 6,
    ),
    "ellipse": Case(
        _plane(_ELLIPSE),
        (5.0, 80.0),
        (-80.0, 80.0),
        100_000,
        (
            _printed(
                MUMSA,
                "79.516068 9.723973 45.842524 51.432848 8.213922 -2.9539575 2.021109 13.2165878 "
                "5.5969445 0.6376873 1.3255329 2.0080339 2.6955659 3.3845794 4.08293762 "
                "4.79845482 5.51170565 6.2127919 0.6371866",
            ),
            _printed(
                IOA,
                "65.428771 8.016387 47.221655 44.13656 -11.570858 -1.904914 10.635414 -1.675477 "
                "3.86733 2.419931 3.109267 3.81295 4.50644 5.181139 5.88342 0.296263 0.991153 "
                "1.707787 2.418865",
            ),
            _printed(
                LIN,
                "80 8.045662 50.81902 42.20801 -10.63697 -2.29109 8.494813 -0.7579678 3.88921 "
                "2.449437 3.153969 3.837114 4.520171 5.204799 5.898536 0.316204 1.023555 1.738992 "
                "2.449437",
                error=4.02e-4,
            ),
            _printed(
                NGUYEN,
                "79.999856 8.1232008 50.870344 42.360533 -10.853763 0.091433127 7.5379031 "
                "-0.52254141 4.0121195 2.3428599 3.0535127 3.7417464 4.4255457 5.1086716 "
                "5.7983829 0.21286893 0.91658554 1.6304135 2.3428152",
                error=4.2014e-4,
            ),
            _printed(
                UNNAMED,
                "54.7218 8.53201 31.4848 33.2131 0.423061 5.9996 7.30574 4.88892 0.0965143 0 "
                "0.714643 1.42348 2.1297 2.80325 3.4741 4.14885 4.85494 5.56444 6.28318",
                side=-1,
            ),
        ),
    ),
    "twelve points": Case(
        _plane(_TWELVE),
        (0.05, 50.0),
        (-50.0, 50.0),
        20_000,
        (
            _polar(
                BULATOVIC,
                "1.14265 0.48237 0.16502 2.87645 1.14644 4.40713 4.75773 2.6666 -1.1364",
            ),
        ),
        own=True,
    ),
    "corner": Case(
        _plane(_CORNER),
        (0.05, 50.0),
        (-50.0, 50.0),
        20_000,
        (
            _polar(
                BULATOVIC,
                "-2.31301 2.86189 -0.61763 9.99432 1.93027 4.57242 7.36674 8.0425 0.1874",
            ),
        ),
        own=True,
    ),
    "leaf": Case(
        _plane(_LEAF),
        (1.0, 300.0),
        (-300.0, 300.0),
        20_000,
        (
            _polar(
                YU,
                "-11.55 -20.14 2.981022362406315 65.87 17.43 25.46 64.57 23.47 2.834414705238791",
            ),
        ),
        own=True,
    ),
    "eight": Case(
        _plane(_EIGHT),
        (1.0, 300.0),
        (-300.0, 300.0),
        20_000,
        (
            _polar(
                YU,
                "-44.87 71.09 5.187118536927147 76.77 27.31 46.44 72.55 60.42 5.489060497522167",
            ),
        ),
        own=True,
    ),
}
