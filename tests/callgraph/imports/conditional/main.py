try:
    from fast import f
except ImportError:
    from slow import f
f()
