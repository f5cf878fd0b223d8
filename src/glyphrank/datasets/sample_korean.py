"""Korean topics of the sample pages; cities, offices and figures are invented.

Queries use the pages' nouns with other particles and endings, so that words must be taken apart to match.
"""

from __future__ import annotations

from glyphrank.datasets.sample_text import Language, Topic

_MONTHS = ("1월", "3월", "5월", "7월", "9월", "11월")

_BICYCLES = Topic(
    heading="공공 자전거 이용",
    paragraphs=(
        "{year}년 한 해 동안 시민들은 공공 자전거를 모두 {total}회 빌려 탔다. 이는 {last}년보다 {change} 것이다. "
        "권역별로는 {top} 권역에서 {top_value}회로 가장 많이 탔다.",
        "고장 난 자전거는 수리소로 옮기는데, 수리를 마치고 거치대에 돌아오기까지 평균 {extra}시간이 걸렸다. "
        "안장과 제동 장치의 고장이 가장 잦았다.",
    ),
    table="권역별 대여 횟수 (회)",
    rows=("강변", "역세권", "대학가", "주거지"),
    amounts=(21_000, 88_000),
    chart="시간대별 하루 평균 대여 (회)",
    marks=("6시", "9시", "12시", "15시", "18시", "21시"),
    levels=(120, 940),
    extras=(18, 70),
    asked={
        "text": (
            "{place}에서 망가진 자전거가 수리되어 거치대로 되돌아오는 데 걸리는 시간",
            "고장이 난 공공 자전거의 수리에 {place}에서는 몇 시간이나 걸리나요?",
        ),
        "table": (
            "대학가에서 빌린 자전거 횟수가 {place}에서 해마다 어떻게 달라졌나",
            "{place}의 강변에서는 자전거가 몇 회나 대여되었습니까?",
        ),
        "chart": (
            "하루 중 자전거 대여가 가장 붐비는 시간대, {place}",
            "{place}에서 시간대에 따라 자전거 대여가 달라지는 모습",
        ),
    },
    everywhere="도시마다 공공 자전거는 얼마나 이용되고 있나?",
)

_LIBRARIES = Topic(
    heading="공공 도서관 대출",
    paragraphs=(
        "{place}의 공공 도서관은 {year}년에 책 {total}권을 빌려주었다. 전년에 견주어 {change} 수치다. "
        "가장 많이 나간 것은 {top} 분야로 {top_value}권이었다.",
        "야간 개관을 늘린 뒤 직장인의 방문이 늘었다. 반납이 늦어진 책은 {extra}권이며, 연체료 대신 대출을 멈추는 "
        "방식으로 바꾸었다.",
    ),
    table="분야별 대출 권수 (권)",
    rows=("문학", "어린이", "과학 기술", "역사"),
    amounts=(14_000, 69_000),
    chart="월별 도서관 방문자 (명)",
    marks=_MONTHS,
    levels=(5_200, 18_800),
    extras=(310, 2_900),
    asked={
        "text": (
            "{place}에서는 책을 늦게 반납하면 연체료를 내야 하나요?",
            "반납을 늦게 한 책에 대해 {place}의 도서관이 택한 방식",
        ),
        "table": (
            "{place}에서 어린이에게 빌려준 책은 몇 권인가",
            "역사책의 대출이 {place}에서 늘었는지 줄었는지",
        ),
        "chart": (
            "어느 달에 도서관을 방문한 사람이 {place}에서 제일 많았지?",
            "{place}에서 도서관에 방문자가 가장 적었던 달",
        ),
    },
    comparison=(
        "이웃한 {other}에서는 같은 해 {other_total}권이 대출되어, 두 도시의 도서관 대출에는 차이가 있었다.",
        "도서관 대출에서 {place}와 {other}를 견주면 차이가 얼마나 나는가",
    ),
)

_FOOD_WASTE = Topic(
    heading="음식물 쓰레기 감량",
    paragraphs=(
        "가정과 식당에서 나온 음식물 쓰레기는 {year}년 {total}톤으로 집계되었다. {last}년과 비교하면 {change} 양이다. "
        "배출량은 {top}에서 {top_value}톤으로 가장 컸다.",
        "무게를 재어 요금을 매기는 종량기를 {extra}대 더 설치하였고, 모은 쓰레기는 말려서 가축의 먹이와 퇴비로 만든다.",
    ),
    table="배출원별 음식물 쓰레기 (톤)",
    rows=("아파트", "단독 주택", "음식점", "급식소"),
    amounts=(1_100, 7_900),
    chart="월별 재활용 비율 (%)",
    marks=_MONTHS,
    levels=(61, 97),
    extras=(24, 260),
    asked={
        "text": (
            "{place}에서 모인 음식물 쓰레기로 무엇을 만드나요?",
            "쓰레기의 무게만큼 요금을 내게 하는 기기를 {place}가 몇 대 설치했나",
        ),
        "table": (
            "{place}의 음식점들이 버린 음식물은 몇 톤이었나",
            "단독 주택에서 배출된 음식물의 양을 {place} 자료에서 찾기",
        ),
        "chart": (
            "재활용의 비율이 {place}에서 가장 높던 달은 언제인가",
            "{place}가 음식물을 재활용하는 비율은 달마다 얼마나 변했나",
        ),
    },
)

_WATER = Topic(
    heading="상수도 누수와 수질",
    paragraphs=(
        "{place}의 수도관에서 새어 나간 물은 {year}년 {total}천 톤이었다. 전년보다 {change} 규모이며, "
        "{top} 배수지의 누수가 {top_value}천 톤으로 가장 심하였다.",
        "땅을 파지 않고 소리로 새는 곳을 찾는 장비를 들여왔다. 낡은 수도관 {extra}km를 스테인리스 관으로 바꾸었다.",
    ),
    table="배수지별 누수량 (천 톤)",
    rows=("북부", "남부", "동산", "서호"),
    amounts=(90, 860),
    chart="분기별 수질 민원 (건)",
    marks=("1분기", "2분기", "3분기", "4분기"),
    levels=(35, 310),
    extras=(6, 58),
    asked={
        "text": (
            "물이 새는 지점을 {place}에서는 어떻게 찾아내나",
            "{place}에서 오래되어 낡은 수도관을 교체한 길이",
        ),
        "table": (
            "서호 배수지에서 누수된 물의 양이 {place}에서 얼마인지",
            "{place}의 북부 배수지에서는 물이 얼마나 샜습니까",
        ),
        "chart": (
            "수질에 대한 민원이 {place}에서 가장 많이 들어온 분기",
            "{place}의 수돗물 민원은 몇 분기에 줄어들었나",
        ),
    },
    everywhere="수도관에서 새는 물을 줄이려고 도시들이 한 일",
)

_CARE = Topic(
    heading="어르신 방문 돌봄",
    paragraphs=(
        "혼자 사는 어르신을 찾아가는 돌봄은 {year}년 {total}회 이루어졌다. {last}년의 {total_last}회에서 {change} "
        "것으로, {top}이 {top_value}회를 차지하였다.",
        "돌봄을 맡은 사람은 한 명당 {extra}가구를 돌본다. 전등이 오래 켜지지 않으면 알림을 보내는 감지기를 "
        "모든 가구에 달았다.",
    ),
    table="돌봄 내용별 방문 횟수 (회)",
    rows=("안부 확인", "식사 배달", "병원 동행", "집 안 정돈"),
    amounts=(2_300, 19_500),
    chart="연령대별 이용자 (명)",
    marks=("65세", "70세", "75세", "80세", "85세"),
    levels=(140, 1_350),
    extras=(9, 24),
    asked={
        "text": (
            "{place}에서는 불이 켜지지 않는 집을 어떻게 알아차리나",
            "돌봄을 맡으면 {place}에서는 몇 가구나 돌보게 되나요",
        ),
        "table": (
            "병원에 동행해 준 횟수, {place}의 어르신들",
            "{place}에서 식사를 배달하러 방문한 것은 몇 회였나",
        ),
        "chart": (
            "돌봄을 이용하는 분들은 {place}에서 어느 연령대가 가장 많은가",
            "{place}의 80세가 넘는 이용자는 몇 명인가",
        ),
    },
)

_MARKETS = Topic(
    heading="전통 시장 매출",
    paragraphs=(
        "{place}의 전통 시장 네 곳은 {year}년에 모두 {total}백만 원어치를 팔았다. 한 해 사이에 {change} 금액이며 "
        "{top}이 {top_value}백만 원으로 앞섰다.",
        "상품권을 받는 가게는 {extra}곳이다. 비가 와도 장을 볼 수 있도록 지붕을 씌우고 주차장을 넓혔다.",
    ),
    table="시장별 매출 (백만 원)",
    rows=("중앙 시장", "새벽 시장", "약초 시장", "수산 시장"),
    amounts=(3_200, 21_000),
    chart="요일별 하루 손님 (명)",
    marks=("월", "화", "수", "목", "금", "토", "일"),
    levels=(1_900, 9_700),
    extras=(85, 420),
    asked={
        "text": (
            "{place}의 시장에서 상품권으로 살 수 있는 가게가 몇 곳이나 되나",
            "비 오는 날에도 {place}에서 장보기가 편하도록 고친 점",
        ),
        "table": (
            "수산 시장에서 판 금액은 {place}에서 얼마였는가",
            "{place}에서 약초를 파는 시장의 매출이 오르고 있나",
        ),
        "chart": (
            "시장에 손님이 가장 몰리는 요일이 {place}에서는 언제인가",
            "{place}의 시장이 가장 한산한 요일",
        ),
    },
    comparison=(
        "가까운 {other}의 전통 시장은 {other_total}백만 원을 팔았으니, 두 도시의 매출은 서로 견줄 만하다.",
        "{place}와 {other}에서 전통 시장이 올린 매출을 서로 비교한 내용",
    ),
)

KOREAN = Language(
    code="ko",
    topics=(_BICYCLES, _LIBRARIES, _FOOD_WASTE, _WATER, _CARE, _MARKETS),
    places=("하람시", "온새시", "다솜시", "푸르내시"),
    title="{place} 생활 통계 연보 {year}",
    note="자료: {place} 통계담당관, 시민 생활 조사. 반올림 때문에 합계가 맞지 않을 수 있다.",
    row_head="구분",
    total="합계",
    more="{percent} 늘어난",
    less="{percent} 줄어든",
)
