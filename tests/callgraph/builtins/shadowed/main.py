def len(items):
    return 1
def f():
    return len([])
f()
