"""The words of the sample clips: what stands on signs, and how queries name a scene and a sign."""

from __future__ import annotations

PLACES = {
    "beach": "on a beach",
    "forest": "in a forest",
    "street": "in a street with houses",
    "snow": "in the snow below mountains",
    "night": "in a city at night",
}
"""Place -> how queries name it."""

COLOURS = ("red", "yellow", "green", "blue", "purple")
MOTIONS = ("left", "right", "closer", "still")
THINGS = {
    "ball": ("rolls to the left", "rolls to the right", "rolls towards the camera", "lies still"),
    "car": ("drives to the left", "drives to the right", "drives towards the camera", "stands still"),
    "balloon": ("floats to the left", "floats to the right", "floats towards the camera", "hangs still in the air"),
    "kite": ("flies to the left", "flies to the right", "flies towards the camera", "stays in its place in the air"),
    "butterfly": ("flutters to the left", "flutters to the right", "flutters towards the camera", "rests in one spot"),
}
"""Thing -> what it does, in the order of `MOTIONS`."""

TEXTS = (
    "Fish Market",
    "Royal Bakery",
    "Grand Hotel",
    "No Parking",
    "Public Library",
    "Coffee House",
    "Flower Shop",
    "Toy Museum",
    "Ferry Tickets",
    "Wet Paint",
    "Book Fair",
    "Ice Cream",
    "Garden Tools",
    "Lost Luggage",
    "Dance School",
    "Quiet Zone",
    "Bicycle Path",
    "Piano Lessons",
    "Fresh Juice",
    "Stone Bridge",
    "Happy Hour",
    "Exit Only",
    "Music Hall",
    "Train Station",
    "Pizza Oven",
    "Village Doctor",
    "Big Sale",
    "Speed Limit",
    "Hidden Valley",
    "Old Castle",
)
"""What stands on signs; no word stands on two of them, and none in the rest of a query."""

_WORDINGS = (
    "A {colour} {thing} {moves} {place}; the sign there reads {text}.",
    "The words {text} are written on a board {place}, where a {colour} {thing} {moves}.",
    "{Place}, near a sign saying {text}, a {colour} {thing} {moves}.",
)


def queries(place: str, thing: str, colour: str, motion: str, text: str) -> list[str]:
    """Three wordings of one query, each with the whole scene and the text.

    >>> queries("snow", "car", "red", "still", "Wet Paint")[0]
    'A red car stands still in the snow below mountains; the sign there reads Wet Paint.'
    """
    where = PLACES[place]
    return [
        wording.format(
            place=where,
            Place=where.capitalize(),
            thing=thing,
            colour=colour,
            moves=THINGS[thing][MOTIONS.index(motion)],
            text=text,
        )
        for wording in _WORDINGS
    ]
