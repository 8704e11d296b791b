class Base:
    def __init__(self):
        pass
class Left(Base):
    def __init__(self):
        super().__init__()
class Right(Base):
    def __init__(self):
        super().__init__()
class Both(Left, Right):
    def __init__(self):
        super().__init__()
Both()
