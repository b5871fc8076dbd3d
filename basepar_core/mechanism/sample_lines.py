"""Lines that a file lacks, with its own names in them, for messages: pasted in, they work.

Motions are small, so that the mechanism most likely follows them from where it is assembled.
"""

from .mechanism import Mechanism


def excitation_line(mechanism: Mechanism) -> str:
    """An excitation of all coordinates."""
    sizes = _each(mechanism, "0.3 rad", "20 mm")
    samples = max(64, 16 * len(mechanism.coordinates))
    return (
        f"excitation: {{kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {sizes}, "
        f"samples: {samples}, seed: 1}}"
    )


def cycle_line(mechanism: Mechanism) -> str:
    """A cycle of all coordinates, of one duration; as fast as machines are, or gravity is all."""
    law = "{{kind: constant_speed, speed: {}, duration: 0.05 s}}"
    laws = _each(mechanism, law.format("2 rad/s"), law.format("0.2 m/s"))
    return f"cycle: {{joints: {laws}, samples: 128}}"


def noise_line(mechanism: Mechanism) -> str:
    """Noise of the torque or force of all coordinates."""
    return f"noise: {_each(mechanism, '0.01 N*m', '0.1 N')}"


def _each(mechanism: Mechanism, angle: str, length: str) -> str:
    entries = [
        f"{name}: {length if mechanism.value(name).is_length else angle}"
        for name in mechanism.coordinates
    ]
    return "{" + ", ".join(entries) + "}"
