import a
def g(n):
    a.f(n)
