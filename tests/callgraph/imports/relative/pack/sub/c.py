from .. import b as again
def g():
    again.f()
