from .reading import Reading
def read_relations(reading, node, geometry, constants):
    return geometry, ()
