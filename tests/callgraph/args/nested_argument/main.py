def inner():
    pass
def middle(f):
    f()
def outer(f):
    middle(f)
outer(inner)
