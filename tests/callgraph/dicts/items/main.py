def f():
    pass
for name, task in {"f": f}.items():
    task()
