def run():
    from tools import f
    import tools as t
    f()
    t.g()
run()
