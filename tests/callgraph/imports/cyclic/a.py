import b
def f(n):
    if n:
        b.g(n - 1)
