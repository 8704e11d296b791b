def inner():
    pass
def outer():
    return inner
outer()()
