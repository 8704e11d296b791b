from pack.things import *
