class Query:
    def __init__(self, parent=None):
        self.parent = parent
    def child(self):
        return Query(self)
    def end(self):
        return self.parent
Query().child().end().child()
