"""The census model's weights, taken from the frequencies of UCI Adult (48,842 rows, 1994, CC BY 4.0); no row is copied.

Ages, hours and countries carry Adult's own counts, the capital amounts are common ones of Adult with rough weights, and
the tables with conditions are rounded shares. The log-odds of income were fitted to Adult by logistic regression.
A block holds one condition a line; the order of the values is that of the lists at the top.
"""

from __future__ import annotations

from polyveil.demo.example import Tree
from polyveil.demo.sampling import weights

WORKCLASSES: Tree = {
    "Self-employed": {"Self-emp-not-inc": {}, "Self-emp-inc": {}},
    "Government": {"Federal-gov": {}, "Local-gov": {}, "State-gov": {}},
    "Private": {},
    "Unpaid": {"Without-pay": {}, "Never-worked": {}},
}
OCCUPATIONS: Tree = {
    "White-collar": {
        "Professional": {"Exec-managerial": {}, "Prof-specialty": {}, "Tech-support": {}},
        "Office and sales": {"Sales": {}, "Adm-clerical": {}},
    },
    "Blue-collar": {
        "Skilled": {"Craft-repair": {}, "Machine-op-inspct": {}, "Transport-moving": {}},
        "Manual": {"Handlers-cleaners": {}, "Farming-fishing": {}},
    },
    "Service": {
        "Protection": {"Protective-serv": {}, "Armed-Forces": {}},
        "Personal": {"Other-service": {}, "Priv-house-serv": {}},
    },
}
MARITAL: Tree = {
    "Married": {"Married-civ-spouse": {}, "Married-AF-spouse": {}, "Married-spouse-absent": {}},
    "Once married": {"Separated": {}, "Divorced": {}, "Widowed": {}},
    "Never-married": {},
}
RACES = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
RELATIONSHIPS = ("Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife")
# fmt: off
EDUCATION = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)
# fmt: on

# Countries with their weights, by origin group (the conditions of RACE and EDUCATION_TILT, in this order) and region.
ORIGINS = (
    {"North America": "United-States 43832 Canada 182 Outlying-US(Guam-USVI-etc) 23"},
    {
        "Central America": "Mexico 951 El-Salvador 155 Guatemala 88 Nicaragua 49 Honduras 20",
        "Greater Antilles": "Puerto-Rico 184 Cuba 138 Dominican-Republic 103",
        "South America": "Columbia 85 Peru 46 Ecuador 45",
    },
    {"West Indies": "Jamaica 106 Haiti 75 Trinadad&Tobago 27"},
    {
        "East Asia": "China 122 South 115 Japan 92 Taiwan 65 Hong 30",
        "South-East Asia": "Philippines 295 Vietnam 86 Thailand 30 Cambodia 28 Laos 23",
        "South and West Asia": "India 151 Iran 59",
    },
    {
        "Western Europe": "Germany 206 England 127 France 38 Ireland 37 Scotland 21 Holand-Netherlands 1",
        "Southern Europe": "Italy 105 Portugal 67 Greece 49",
        "Eastern Europe": "Poland 87 Yugoslavia 23 Hungary 19",
    },
)
UNKNOWN_COUNTRY = 857
CONTINENTS = {
    "America": ("North America", "Central America", "Greater Antilles", "South America", "West Indies"),
    "Asia": ("East Asia", "South-East Asia", "South and West Asia"),
    "Europe": ("Western Europe", "Southern Europe", "Eastern Europe"),
}

FIRST_AGE = 17
AGE = weights(
    "595 862 1053 1113 1096 1178 1329 1206 1195 1153 1232 1280 1223 1278 1325 1253 1335 1303 1337 1348 1280 1264 1206 "
    "1187 1235 1165 1104 1067 1096 1097 1081 845 847 866 877 738 711 613 621 564 551 555 523 449 450 394 335 340 284 "
    "237 238 178 149 133 118 120 108 77 72 69 54 34 30 38 37 15 11 13 5 1 3 6 2 55"
)
AGE_BANDS = (17, 18, 20, 22, 25, 30, 35, 45, 55, 65)
FEMALE = (0.496, 0.491, 0.469, 0.416, 0.359, 0.306, 0.291, 0.292, 0.295, 0.332)
RACE = weights("""
878  98  10  10   4
877  26   3   7  87
 38 918  24   1  19
113  11 854   4  18
954  25  14   1   6
669 154 149   1  28
""")
EDUCATION_BY_AGE = weights("""
0  0  5  8 61 333 449 113  24   8  0  0   0  0  0  0
2  2  4 10 13  40 169  67 333 356  3  1   1  1  0  0
3  1  7  6 14  20  29  14 318 537 23 22   6  1  0  0
2  3 10 11 13  20  31  13 299 322 39 38 192  9  0  0
1  3 10  9 13  24  30  11 328 210 50 39 220 36 10  4
2  4  7 12 14  22  30  12 345 197 53 38 192 47 15 10
1  4  8 12 11  17  20   8 319 204 52 42 193 71 24 13
3  6 12 22 14  22  24   9 323 189 42 32 166 89 23 22
2 11 18 47 27  44  27  11 350 164 31 19 134 70 23 22
3 12 24 85 27  43  34   7 333 155 31 18 123 52 30 23
""")
# Education groups (1-4, 5-8, 9, 10-12, 13, 14-16) against the average, in percent, by origin.
EDUCATION_GROUPS = (1, 5, 9, 10, 13, 14)
EDUCATION_TILT = weights("""
 62  98 103 103 100  97
900 190  73  53  39  35
200 140 105 108  44  70
130  50  62  75 170 240
200  80  90  84 120 130
160  77  71  78 150 190
""")
# Age bands twice, men then women.
MARITAL_BY_AGE = weights("""
  3 0  3  0   0   3 990
 18 0  2  2   1   1 975
 78 0  4  4   5   1 908
198 0  5 12  19   0 766
417 2  8 19  46   1 507
614 1 12 25  83   1 266
715 0 11 25 112   2 134
787 0 13 16 113   8  62
824 0  9 15  89  23  40
799 0 13  9  40  88  52
  3 0  0  0   0   0 997
 17 3  6  5   9   0 960
 35 0 11 11  14   0 931
 82 2 12 28  42   1 832
152 2 22 48 130   4 642
200 4 19 84 242  10 441
222 1 23 80 384  31 258
192 0 23 87 446 104 147
172 1 22 57 362 285 102
 74 1 16 17 195 616  81
""")
# The last value of the three workclass tables is "not known".
WORK_BY_AGE = weights("""
 15 13  3 35  3 763   0   3 163
 23  9  6 17 22 743   2   2 176
 14  7  8 19 35 766   0   1 150
 21  8 15 38 37 810   0   0  70
 46 14 20 56 36 789 0.3   0  39
 69 24 24 63 41 752 0.2   0  26
 90 41 36 72 46 693 0.2   0  21
100 55 47 91 48 634 0.4   0  26
134 54 39 73 42 576   1   0  81
171 68 15 59 24 420   3   0 240
""")
STUDY_BANDS = (1, 9, 10, 13, 14)
WORK_TILT_BY_STUDY = weights("""
 97  49  28  56  30 108 100 100 170
102  78  85  75  64 107 100 100  90
 87  90 120  90 106 100 100 100 105
 96 150 135 136 133  95 100 100  70
148 206 145 230 256  70 100 100  60
""")
WORK_TILT_BY_SEX = weights("""
125 129 102  90  90  98 100 100  80
 49  37  97 122 115 103 100 100 135
""")
# Study bands twice, men then women.
OCCUPATION_BY_STUDY = weights("""
 32  12  3  56  25 241 123 123 126 97  12 0 147  2
 79  20 16  92  58 268 111 112  79 54  29 1  82  0
135  70 49 140  85 201  58  55  50 38  44 1  75  0
283 255 42 185  65  58  15  16  13 19  23 0  25  0
249 588 21  69  25  15   3   7   2  7   7 0   7  0
 27  21  9 180  96  27 140  12  33 15   9 0 376 56
 81  30 22 134 307  34  84  15  29  5   7 0 233 19
122  99 61 136 335  19  29   6  10  7  10 0 160  6
211 362 49 114 175   8   8   2   3  3  10 0  51  4
193 666 17  42  48   4   4   0   0  1   1 0  23  2
""")
OCCUPATION_TILT_BY_WORK = weights("""
 85  79  28 100  14 106  17  63   9  362   6   0 58   0
196  74  14 165  25  48  12  29   6  100   9   0 24   0
 64  61 100   5 159  22  11  24  29   10  66 600 21   0
 69 185  53   4  98  52  12 100  47   43 656   0 85   0
 63 114  84   6 100  28  12  48  18   32 279   0 68   0
 74  66  87  87  79  85 102  87 100   49  33   0 86 101
 48   0   0  36  77  29 100  74 171 1112   0   0 58   0
""")
# Hours 1 to 99 as people state them, then bands of hours (from HOUR_BANDS) by stage of life, men then women.
HOURS = weights(
    "27 53 59 84 95 92 45 218 27 425 20 247 28 55 623 303 42 129 19 1862 46 62 40 354 958 40 43 140 15 1700 12 "
    "423 61 48 1937 336 242 714 63 22803 59 338 227 310 2717 129 82 770 39 4246 20 205 39 62 1051 141 19 38 7 "
    "2177 4 23 15 22 355 23 6 16 1 437 0 107 4 3 105 4 9 13 1 210 3 1 0 72 17 4 1 4 3 42 3 3 0 1 2 9 2 14 137"
)
HOUR_BANDS = (1, 11, 21, 31, 36, 41, 46, 51, 61)
STAGES = (0, 20, 25, 60, 65)
HOURS_BY_STAGE = weights("""
 78 310 217 62 257 19  27  22  7
 22  97 121 64 505 53  74  46 18
  5  17  28 30 510 98 151 112 50
 37  70  68 44 496 63 123  67 32
145 194 139 62 291 39  62  40 28
 84 405 242 57 188  9   6   6  2
 46 173 173 93 429 29  33  19  5
 17  56  74 78 572 65  71  47 20
 60  94 115 92 507 43  34  21 34
171 286 127 77 267 16  26  13 17
""")
# Self-employed, government, private, the rest; percent of the average.
HOURS_TILT_BY_WORK = weights("""
130  85 100 100  54  88 170 210 330
 95  80  55  97 117  77  82  80  87
 85  98 102  99 102 101 100  90  80
300 190 180 120  85  45  45  50  70
""")
# Married, once married, never married; each men then women; each under 25, under 35, older.
RELATIONSHIP = weights("""
933   2  35  30   0   0
978   2  10  10   0   0
996   0   3   1   0   0
  0  17 145  95   0 743
  0   6  28  47   0 919
  0   1  31  13   0 955
  0 500  60 380  60   0
  0 640  45 150 165   0
  0 700  30  70 200   0
  0 300  70 270 360   0
  0 330  32 108 530   0
  0 460  35  35 470   0
  0 250  67 648  35   0
  0 574  70 290  66   0
  0 728  44 166  62   0
  0 257  52 634  57   0
  0 542  43 252 163   0
  0 606  52 134 208   0
""")
# Log-odds of more than 50K in tenths, added up.
PAY_START = -24
PAY_AGE = (-18, -27, -28, -20, -11, -4, 0, 3, 2, 0)
PAY_STUDY = (-17, -16, -12, -12, -12, -8, -7, -4, 0, 4, 5, 6, 11, 14, 21, 21)
PAY_MARRIED = (0, 18, -8, 23)  # men single, men married, women single, women married
PAY_HOURS = (-10, -10, -10, -3, 0, 4, 6, 5, 4)
PAY_OCCUPATION = (5, 2, 3, 0, -3, -3, -7, -4, -9, -12, 1, 5, -12, -16, -6)  # the last: not known
# Amounts with weights: no gain first; for <=50K, then >50K.
# fmt: off
GAINS = (
    0, 594, 1055, 2174, 2407, 2829, 3103, 3137, 3325, 3908, 4064, 4386, 4650, 4787, 5013, 5178, 6849, 7298,
    7688, 8614, 9386, 10520, 13550, 14084, 14344, 15024, 20051, 27828, 99999,
)
GAIN_WEIGHTS = weights("""
35611 90 70 130 60 90 0 100 140 90 110 30 130 0 170 0 80 0 0 0 0 0 0 0 0 0 0 0 0
9196 0 0 0 0 0 150 0 0 0 0 110 0 45 0 150 0 370 420 85 35 68 45 55 37 520 52 60 250
""")
LOSSES = (
    0, 625, 1408, 1485, 1564, 1590, 1602, 1672, 1719, 1740, 1848, 1876, 1887, 1902, 1977, 1980, 2001, 2258,
    2415, 2444, 2559,
)
# fmt: on
LOSS_WEIGHTS = weights("""
36017 50 70 50 10 120 120 100 80 110 0 110 0 30 0 80 80 60 0 0 10
10543 0 0 60 55 0 0 0 0 0 85 0 250 310 270 0 0 30 80 25 20
""")
# fnlwgt lies between these knots with these weights.
WEIGHT_KNOTS = (12285, 27166, 39615, 65738, 117549, 178147, 237646, 328466, 379485, 509500, 760000, 1490400)
WEIGHT_SHARES = weights("100 400 500 1500 2500 2500 1500 500 400 95 5")
