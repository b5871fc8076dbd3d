"""Which joints' reactions the forces of couplings are part of, in a way that no file tells."""

from basepar_core.mechanism import Mechanism


def loading(it: Mechanism, joint: str) -> str:
    """Name of a coupling whose force loads a joint in a way that the file does not tell; or "".

    The force (of teeth, a belt, a thread) acts between the bodies that the coupled joints join.
    Where other joints alone are opened it does no work, wherever it acts: these bodies then move
    as the coupling allows. Within one joint, a screw, it is part of what the joint transmits.
    Where coupled joints have no bodies in common, what joins them is loaded too.
    """
    for coupling in it.couplings:
        joints = {it.value(name).joint.name: it.value(name).joint for name, _ in coupling.terms}
        if set(joints) == {joint}:
            continue
        first, *others = (set(one.bodies) for one in joints.values())
        while near := [bodies for bodies in others if bodies & first]:
            first = first.union(*near)
            others = [bodies for bodies in others if not bodies & first]
        if joint in joints or others:
            return coupling.name
    return ""
