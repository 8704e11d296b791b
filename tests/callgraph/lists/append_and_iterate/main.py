def f():
    pass
tasks = []
tasks.append(f)
for task in tasks:
    task()
