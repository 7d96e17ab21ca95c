"""Word lists: what steers a question, what names the same idea, and which amounts add up."""

_STEERING = """
a an the of in on at by for to from with and or is are was were be been do does did has have had how
what which who whom when where why much many each every per all any me my i you we us it its this
that these those there show give tell plot draw make chart graph list get find display calculate
compute please can could would should between among across over under above below than more most
less least top bottom highest lowest high low largest smallest biggest average mean median total sum
count max min maximum minimum number overall trend distribution histogram correlation relationship
compare comparison difference vs versus percent percentage share proportion rate ratio only not no
yes first last time period group grouped sort sorted order value column row file data table unique
distinct different missing duplicate standard deviation scatter bar line pie box heat map area same
now also then about into as new change rise fall grow growth increase decrease best worst one two
day week month quarter year hour minute daily weekly monthly quarterly yearly annual hourly past
today people person january february march april may june july august september october november
december since until before after during
"""
# Words that steer a question; alone they never stand for a part of a longer column name.
STEERING = frozenset(_STEERING.split())

# Each line is one idea; a question's word finds a column that uses another word of its line.
_SYNONYMS = """
revenue sale amount turnover income earning proceed 销售额 收入 营业额
cost expense spending expenditure 成本 费用
price rate fare fee charge tariff 价格 单价
quantity qty unit volume 数量
customer client buyer account 客户
employee staff worker
salary wage pay compensation income
country nation 国家
region area zone territory district 地区 区域
city town 城市
state province
product item article sku goods 产品 商品
category type kind class group segment 类别 类型
date day time datetime timestamp 日期
gender sex 性别
name title label 姓名 名称
score rating grade mark point 分数 评分
count number num no
profit margin gain 利润
population pop inhabitant
temperature temp
latitude lat
longitude lon lng
duration length
weight mass
death fatality
age 年龄
"""
SYNONYMS: dict[str, set[str]] = {}
for _line in _SYNONYMS.strip().splitlines():
    for _word in _line.split():
        SYNONYMS.setdefault(_word, set()).update(_line.split())

_ABBREVIATIONS = """
avg average, ave average, num number, qty quantity, amt amount, pct percent, perc percent, temp
temperature, pop population, dept department, yr year, std standard, med median, lat latitude, lon
longitude, cust customer, prod product, cat category, desc description, addr address, exp
expectancy, exper experience, educ education, inc income, ht height
"""
ABBREVIATIONS = {short: long for short, long in (pair.split() for pair in _ABBREVIATIONS.split(","))}

# People say women where the table says female.
_ALIASES = "women female, woman female, girls female, females female, men male, man male, boys male, males male"
VALUE_ALIASES = {said: written for said, written in (pair.split() for pair in _ALIASES.split(","))}

_ADDITIVE = """
umsatz menge betrag anzahl summe kosten ventas ingreso cantidad importe montant quantite vente
revenue sale amount turnover income cost expense spending expenditure profit quantity qty unit
volume count number num total vote death case order visit click view trip ride passenger sold
shipped produced damage budget payment donation goal run hit home population pop call trade purchase
signup member membership pass vaccination traveled mile download charge paid pay tax 销售额 收入 数量 金额 成本
利润
"""
_NOT_ADDITIVE = """
average avg mean median rate ratio percent percentage pct per price score rating index age
temperature temp share level std min max capita hundred million speed pressure humidity latitude
longitude height width length weight salary wage open close high low rank error year 单价 年龄
"""
# Values of columns with such words in their names add up to something; those of the second kind do not.
ADDITIVE = frozenset(_ADDITIVE.split())
NOT_ADDITIVE = frozenset(_NOT_ADDITIVE.split())
CUMULATIVE = r"cumulative|to date|since launch|^total_.*(vaccin|cases|deaths)|running total|累计"
