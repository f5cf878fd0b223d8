"""English topics of the sample pages; towns, offices and figures are invented.

Queries say in other words what the pages say, and pages of one town share its name and their vocabulary.
"""

from __future__ import annotations

from glyphrank.datasets.sample_text import Language, Topic

_MONTHS = ("Jan", "Mar", "May", "Jul", "Sep", "Nov")

_FREIGHT = Topic(
    heading="Freight through the harbour",
    paragraphs=(
        "The quays of {place} handled {total} thousand tonnes of goods in {year}, {change} than in {last}. {top} made "
        "up the largest share with {top_value} thousand tonnes.",
        "Vessels lay at anchor for {extra} hours on average before a berth became free. A second crane, in service "
        "since spring, is expected to shorten the queue.",
    ),
    table="Goods handled, by kind (thousand tonnes)",
    rows=("Grain", "Timber", "Containers", "Fuel"),
    amounts=(140, 920),
    chart="Vessels calling, by month",
    marks=_MONTHS,
    levels=(38, 190),
    extras=(7, 41),
    asked={
        "text": (
            "How long do ships wait to unload in {place}?",
            "Is there congestion for boats arriving at the port of {place}?",
        ),
        "table": (
            "Amount of wood shipped via {place} year by year",
            "Fuel passing over the quays of {place}",
        ),
        "chart": (
            "When did most ships dock at {place}?",
            "Vessels calling at {place} in each season",
        ),
    },
    everywhere="Which towns handle goods by sea, and how much?",
)

_LIBRARIES = Topic(
    heading="Lending by public libraries",
    paragraphs=(
        "Branches across {place} issued {total} loans in {year}, {change} than in {last}. The greatest demand was for "
        "{top}, with {top_value} loans.",
        "Evening opening was extended in two branches. Late returns stood at {extra} items; fines have been abolished, "
        "and an account is paused instead until everything is back.",
    ),
    table="Loans, by collection",
    rows=("Fiction", "Children", "Audio and film", "Local history"),
    amounts=(11_000, 64_000),
    chart="Visits, by month",
    marks=_MONTHS,
    levels=(4_100, 15_900),
    extras=(260, 2_400),
    asked={
        "text": (
            "What happens in {place} if I do not bring a book back on time?",
            "Are fines still charged for late returns in {place}?",
        ),
        "table": (
            "How many novels were borrowed in {place}?",
            "Loans of children's books in {place}",
        ),
        "chart": (
            "Busiest time of the year for book borrowers in {place}",
            "When do the fewest readers come to the reading rooms of {place}?",
        ),
    },
    comparison=(
        "In neighbouring {other} the branches issued {other_total} loans over the same period.",
        "Do people borrow more books in {place} or in {other}?",
    ),
)

_WASTE = Topic(
    heading="Household waste and recycling",
    paragraphs=(
        "Crews in {place} collected {total} tonnes from households in {year}, {change} than in {last}. The heaviest "
        "stream was {top} at {top_value} tonnes.",
        "Collections of residual bins were cut to every third week. Since then {extra} reports of dumping on verges "
        "have been received, most of them close to the ring road.",
    ),
    table="Collected material, by stream (tonnes)",
    rows=("Residual", "Paper and card", "Glass", "Garden"),
    amounts=(900, 8_700),
    chart="Share recycled, by quarter (%)",
    marks=("Q1", "Q2", "Q3", "Q4"),
    levels=(31, 68),
    extras=(55, 480),
    asked={
        "text": (
            "Illegal fly-tipping after the rubbish schedule changed in {place}",
            "How often are residual bins emptied in {place}?",
        ),
        "table": (
            "Weight of old newspapers and cardboard picked up in {place}",
            "How many bottles and jars does {place} gather, in tonnes?",
        ),
        "chart": (
            "What fraction of garbage does {place} reuse?",
            "Did {place} improve at turning rubbish into new material during the year?",
        ),
    },
)

_MEALS = Topic(
    heading="Meals served in schools",
    paragraphs=(
        "Kitchens in {place} served {total} lunches during {year}, {change} than in {last}. {top} accounted for "
        "{top_value} of them.",
        "Every menu now offers a dish without meat on two days a week. {extra} children receive their plate free of "
        "charge because of a low family income.",
    ),
    table="Lunches served, by kind of school",
    rows=("Nursery", "Primary", "Secondary", "Special"),
    amounts=(24_000, 190_000),
    chart="Leftovers for each child, by weekday (grams)",
    marks=("Mon", "Tue", "Wed", "Thu", "Fri"),
    levels=(28, 145),
    extras=(340, 2_900),
    asked={
        "text": (
            "Do children of poor families eat for free in {place}?",
            "Vegetarian food for pupils in {place}",
        ),
        "table": (
            "Dinners for teenagers at high school in {place}",
            "Nursery lunches in {place}: how many?",
        ),
        "chart": (
            "On which day do pupils in {place} throw away the most food?",
            "How much of the canteen food is left uneaten in {place}?",
        ),
    },
    everywhere="How many lunches are pupils given at school?",
)

_BUSES = Topic(
    heading="Journeys by bus",
    paragraphs=(
        "Passengers made {total} thousand journeys on the network of {place} in {year}, {change} than in {last}. "
        "{top} carried the most, {top_value} thousand.",
        "Departures more than five minutes behind timetable fell to {extra} in ten thousand. Drivers' vacancies were "
        "filled, and half of the fleet now runs on batteries.",
    ),
    table="Journeys, by line (thousand)",
    rows=("Coast line", "Hill line", "Market line", "Night line"),
    amounts=(210, 1_900),
    chart="Passengers aboard, by hour",
    marks=("6 h", "9 h", "12 h", "15 h", "18 h", "21 h"),
    levels=(90, 870),
    extras=(210, 890),
    asked={
        "text": (
            "Is public transport punctual in {place}?",
            "How much of the bus fleet of {place} is electric?",
        ),
        "table": (
            "Late evening journeys in {place}: how popular are they?",
            "How many people ride up the slope to the upper town of {place}?",
        ),
        "chart": (
            "Rush hour crowding on public transport in {place}",
            "At what time of day are seats easiest to find in {place}?",
        ),
    },
)

_TREES = Topic(
    heading="Trees along the streets",
    paragraphs=(
        "Gardeners in {place} counted {total} trees on public ground in {year}, {change} than in {last}. {top} is the "
        "most frequent kind with {top_value} specimens.",
        "After three dry summers {extra} specimens had to be felled. Young ones are given water bags and a named "
        "neighbour who looks after them.",
    ),
    table="Specimens, by kind",
    rows=("Lime", "Plane", "Maple", "Cherry"),
    amounts=(1_300, 9_800),
    chart="Newly planted, by district",
    marks=("North", "East", "South", "West", "Centre"),
    levels=(40, 520),
    extras=(70, 640),
    asked={
        "text": (
            "Damage by drought to urban greenery in {place}",
            "Who looks after young trees in {place}?",
        ),
        "table": (
            "Number of blossoming fruit plants by the road in {place}",
            "Most frequent species along the streets of {place}",
        ),
        "chart": (
            "Which part of {place} got the most new greenery?",
            "In which district of {place} are trees being planted?",
        ),
    },
    comparison=(
        "The inventory of {other} lists {other_total} trees, so that the two towns can be set side by side.",
        "Is {place} greener than {other}?",
    ),
)

ENGLISH = Language(
    code="en",
    topics=(_FREIGHT, _LIBRARIES, _WASTE, _MEALS, _BUSES, _TREES),
    places=("Merrinport", "Kestrelby", "Ashenvale", "Lowthessby"),
    title="{place} in figures {year}",
    note="Source: {place} Statistics Office, survey of public services. Rounded figures may not add up.",
    row_head="Kind",
    total="Total",
    more="{percent} more",
    less="{percent} less",
)
