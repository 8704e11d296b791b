def f():
    words = "a b".split()
    words.append("c")
    table = {}
    table.update(a=1)
    return " ".join(words)
f()
