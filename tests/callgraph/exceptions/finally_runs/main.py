def cleanup():
    pass
def f():
    try:
        return 1
    finally:
        cleanup()
f()
