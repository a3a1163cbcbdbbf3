"""Named tuples without the `typing` module, whose import takes longer than an answer from the cache.

To a type checker a Record is `typing.NamedTuple`, and a test checks that both behave alike. No code is generated, so
that creating a class takes a tenth of the time; creating an object takes a little longer.
"""

from operator import itemgetter

__all__ = ["Record"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:

    class _RecordType(type):
        """Makes the annotations of a class the fields of a tuple."""

        def __new__(cls, name, bases, body):
            made = super().__new__(cls, name, bases, {"__slots__": (), **body})
            if fields := tuple(made.__annotations__):
                made._fields = made.__match_args__ = fields
                made._field_defaults = {field: body[field] for field in fields if field in body}
                for index, field in enumerate(fields):
                    setattr(made, field, property(itemgetter(index)))
            return made

    class Record(tuple, metaclass=_RecordType):
        """A tuple with named fields: `class Point(Record)` with `x: int` and `y: int = 0`."""

        _fields = ()

        def __new__(cls, /, *values, **named):
            """Take fields by position or name; missing ones get their default."""
            if named or len(values) != len(cls._fields):
                values = _complete(cls, values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **changes):
            made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"{type(self).__name__} has no {', '.join(changes)}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            values = ", ".join([f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)])
            return f"{type(self).__name__}({values})"

        def __getnewargs__(self):
            return tuple(self)

    def _complete(kind, values, named):
        rest = kind._fields[len(values) :]
        given = kind._field_defaults | named
        if not named.keys() <= set(rest) <= given.keys() or len(values) > len(kind._fields):
            wrong = [field for field in rest if field not in given] + [field for field in named if field not in rest]
            raise TypeError(f"{kind.__name__} takes {', '.join(kind._fields)}; wrong: {', '.join(wrong) or 'too many'}")
        return (*values, *map(given.__getitem__, rest))
