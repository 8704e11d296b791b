def f(n):
    if n:
        f(n - 1)
f(1)
