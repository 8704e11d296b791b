import threading
def f():
    lock = threading.Lock()
    lock.acquire()
f()
