def f():
    pass
def work():
    while True:
        task = yield
        task()
worker = work()
next(worker)
worker.send(f)
