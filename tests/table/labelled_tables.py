"""Wide tables made from variable lists that are public, each column with the role that a careful steward gives it.

A line is `role kind: name name ...`, or `role kind: name = description` for one column. Kinds say how cells are drawn.
TUNED tables were looked at while the words and rules were written; KEPT_BACK ones were not.
"""

# ruff: noqa: E501 - lists of names are read by the line
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

ROWS = 400


@dataclass(frozen=True)
class Labelled:
    """A table, the right role of each column, and descriptions where the list has them."""

    name: str
    frame: pl.DataFrame
    roles: dict[str, str]
    labels: dict[str, str] = field(default_factory=dict)


def table(name: str, text: str, rows: int = ROWS) -> Labelled:
    """Draw the cells of every column of a list."""
    rng = np.random.default_rng(len(text))
    cells: dict[str, pl.Series] = {}
    roles: dict[str, str] = {}
    labels: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        head, _, rest = line.partition(": ")
        role, kind = head.split()
        column, described, label = rest.partition(" = ")
        for each in [column.strip()] if described else rest.split():
            roles[each], cells[each] = role, draw(kind, rows, rng).alias(each)
            if described:
                labels[each] = label
    return Labelled(name, pl.DataFrame(list(cells.values())), roles, labels)


def draw(kind: str, rows: int, rng: np.random.Generator) -> pl.Series:
    """Cells of one kind: `code5` has the codes 1 to 5, `code2r` has refusals (7, 9) as well."""
    if kind.startswith("code"):
        codes = [str(i + 1) for i in range(int(kind[4:].rstrip("r")))] + (["7", "9"] if kind.endswith("r") else [])
        return pl.Series(rng.choice(codes, rows))
    if kind == "id":
        return pl.Series([f"{100_000 + i}" for i in rng.permutation(rows)])
    if kind == "visits":  # a person's key: several rows each
        return pl.Series([str(50_000 + i // 2) for i in range(rows)])
    if kind == "name":
        return pl.Series([f"{'ABCDEFGH'[i % 8]}nna Person{i}" for i in rng.permutation(rows)])
    if kind == "email":
        return pl.Series([f"p{i}@example.org" for i in range(rows)])
    if kind == "phone":
        return pl.Series([f"+49 170 {5_550_000 + i}" for i in range(rows)])
    if kind == "text":
        return pl.Series([f"A longer remark about what happened on visit {i}, with details" for i in range(rows)])
    if kind == "yn":
        return pl.Series(rng.choice(["yes", "no"], rows, p=[0.3, 0.7]))
    if kind == "gap":  # one value, for few
        return pl.Series([("1" if i < 2 else None) for i in range(rows)])
    if kind == "one":
        return pl.Series(["1"] * rows)
    if kind == "age":
        return pl.Series([str(i) for i in rng.integers(0, 81, rows)])
    if kind == "count":
        return pl.Series([str(i) for i in rng.poisson(2.0, rows)])
    if kind == "number":
        return pl.Series([f"{x:.1f}" for x in rng.normal(120, 15, rows)])
    if kind == "sentinel":
        amount = rng.integers(0, 90, rows) * 10
        return pl.Series(
            [("777777" if i % 40 == 0 else "999999" if i % 33 == 0 else str(x)) for i, x in enumerate(amount)]
        )
    if kind == "money":
        amount = np.where(rng.random(rows) < 0.4, 0, rng.lognormal(9, 1.2, rows))
        return pl.Series([f"{x:.2f}" for x in amount])
    if kind == "date":
        start = np.datetime64("2015-01-01")
        return pl.Series([str(start + int(i)) for i in rng.integers(0, 2000, rows)])
    if kind == "year":
        return pl.Series([str(i) for i in rng.integers(1940, 2005, rows)])
    if kind == "zip":
        return pl.Series([f"{i:05d}" for i in rng.integers(1000, 99999, rows)])
    if kind == "icd":
        return pl.Series([f"{'ABCEIJ'[i % 6]}{i % 90 + 10}.{i % 9}" for i in rng.integers(0, 500, rows)])
    if kind == "place":
        return pl.Series([f"Town {i}" for i in rng.integers(0, 40, rows)])
    if kind == "weight":
        return pl.Series([f"{x:.6f}" for x in rng.lognormal(9, 1, rows)])
    raise ValueError(kind)


def survey(rows: int = ROWS) -> Labelled:
    """A health survey with a dictionary, after NHANES: 150 columns."""
    lab = (
        "TC HDL LDL TR GLU GH IN CR UA BUN ALT AST GGT BILI ALB CA NA K CL PHOS IRON FER VITD FOL B12 CRP PB CD HG COT"
    )
    labs = "\n".join(f"sensitive number: LBX{code} = {code} in serum (mg/dL)" for code in lab.split())
    urine = "\n".join(
        f"sensitive number: URX{code} = {code}, urine (ug/L)"
        for code in ["UCR", "UMA", "UCD", "UPB", "UHG", "BPH", "MEP"]
    )
    food = "KCAL PROT CARB SUGR FIBE TFAT CHOL CALC IRON SODI CAFF ALCO"
    foods = "\n".join(f"sensitive number: DR1T{code} = Nutrient intake, day 1: {code} (gm)" for code in food.split())
    return table(
        "survey",
        f"""
        identifier id: SEQN = Respondent sequence number
        insensitive one: SDDSRVYR = Data release cycle
        insensitive code2: RIDSTATR = Interview/Examination status of the sample person
        quasi code2: RIAGENDR = Gender of the participant
        quasi age: RIDAGEYR = Age in years of the participant at the time of screening
        quasi code6: RIDRETH3 = Recode of reported race and Hispanic origin information
        insensitive code2: RIDEXMON = Six month time period when the examination was performed
        quasi code2r: DMQMILIZ = Served active duty in US Armed Forces
        quasi code2r: DMDBORN4 = In what country was the participant born
        quasi code2r: DMDCITZN = Is the participant a citizen of the United States
        quasi code5: DMDYRSUS = Length of time the participant has been in the US
        quasi code5r: DMDEDUC2 = Education level - Adults 20+
        quasi code5r: DMDMARTL = Marital status
        sensitive code2: RIDEXPRG = Pregnancy status for females at the time of the exam
        insensitive code2: SIALANG = Language of interview
        insensitive code2: SIAPROXY = Was a proxy used in the interview
        quasi count: DMDHHSIZ = Total number of people in the household
        quasi count: DMDFMSIZ = Total number of people in the family
        quasi code4: DMDHHSZA = Number of children 5 years or younger in the household
        quasi code2: DMDHRGND = Household reference person's gender
        quasi age: DMDHRAGE = Household reference person's age in years
        sensitive code5: INDHHIN2 = Total household income (reported as a range value in dollars)
        sensitive number: INDFMPIR = A ratio of family income to poverty guidelines
        drop weight: WTINT2YR = Full sample 2 year interview weight
        drop weight: WTMEC2YR = Full sample 2 year MEC exam weight
        insensitive code2: SDMVPSU = Masked variance unit pseudo-PSU
        insensitive code5: SDMVSTRA = Masked variance unit pseudo-stratum
        sensitive number: BPXSY1 = Systolic: blood pressure (first reading) mm Hg
        sensitive number: BPXDI1 = Diastolic: blood pressure (first reading) mm Hg
        sensitive number: BPXPLS = 60 sec. pulse
        quasi number: BMXWT = Weight (kg)
        quasi number: BMXHT = Standing height (cm)
        sensitive number: BMXBMI = Body mass index (kg/m**2)
        sensitive number: BMXWAIST = Waist circumference (cm)
        sensitive code2r: BPQ020 = Ever told you had high blood pressure
        sensitive code2r: BPQ080 = Doctor told you - high cholesterol level
        sensitive code2r: DIQ010 = Doctor told you have diabetes
        sensitive code2r: DIQ050 = Taking insulin now
        sensitive age: DID040 = Age when first told you had diabetes
        sensitive code2r: MCQ010 = Ever been told you have asthma
        sensitive code2r: MCQ160B = Ever told had congestive heart failure
        sensitive code2r: MCQ160F = Ever told you had a stroke
        sensitive code2r: MCQ220 = Ever told you had cancer or malignancy
        sensitive code2r: MCQ160L = Ever told you had any liver condition
        sensitive code2r: HIQ011 = Covered by health insurance
        sensitive code2r: HIQ031D = Covered by Medicaid
        sensitive code5: HUQ010 = General health condition
        sensitive count: HUQ051 = Number of times received healthcare over the past year
        sensitive code2r: HUQ071 = Overnight hospital patient in last year
        sensitive code2r: HUQ090 = Seen mental health professional in the past year
        sensitive code3: DPQ010 = Have little interest in doing things
        sensitive code3: DPQ020 = Feeling down, depressed, or hopeless
        sensitive code3: DPQ030 = Trouble sleeping or sleeping too much
        sensitive code3: DPQ050 = Poor appetite or overeating, diet
        sensitive code3: DPQ090 = Thought you would be better off dead
        sensitive number: SLD012 = Sleep hours on weekdays
        sensitive code2r: SLQ050 = Ever told doctor had trouble sleeping
        sensitive code2r: ALQ111 = Ever had a drink of any kind of alcohol
        sensitive sentinel: ALQ130 = Average number of alcoholic drinks per day in the past 12 months
        sensitive code2r: ALQ151 = Ever have 4/5 or more drinks every day
        sensitive code2r: SMQ020 = Smoked at least 100 cigarettes in life
        sensitive code3: SMQ040 = Do you now smoke cigarettes
        sensitive age: SMD030 = Age started smoking cigarettes regularly
        sensitive code2r: DUQ200 = Ever used marijuana or hashish
        sensitive age: DUQ210 = Age when first tried marijuana
        sensitive code2r: DUQ250 = Ever used cocaine or heroin or methamphetamine
        sensitive code2r: DUQ290 = Ever used heroin
        sensitive gap: DUQ320 = Number of days used heroin in the past month
        sensitive code2r: DUQ370 = Ever use any form of drug with a needle
        sensitive age: SXD021 = Ever had vaginal, anal, or oral sex
        sensitive age: SXD031 = How old when first had sex
        sensitive count: SXD101 = Number of female sex partners in lifetime
        sensitive code3: SXQ292 = Describe sexual orientation
        sensitive code2r: SXQ260 = Doctor ever told you had genital herpes disease
        sensitive code2r: RHQ131 = Ever been pregnant
        sensitive code2r: RHQ420 = Ever taken birth control pills
        sensitive code3: FSDHH = Household food security category
        sensitive code2r: FSQ165 = Household ever received food stamp benefits
        sensitive code2r: PFQ051 = Limited in amount of work you can do, physical limitation
        sensitive code2r: PFQ061B = Walking for a quarter mile difficulty
        sensitive code2r: PAQ605 = Vigorous work activity
        sensitive code2r: OHQ620 = How often last year had aching in mouth, teeth
        sensitive code2r: IMQ020 = Received hepatitis B 3 dose series
        sensitive code2r: RXDUSE = Taken prescription medicine in past month
        sensitive count: RXDCOUNT = The number of prescription medicines taken
        quasi code4: OCD150 = Type of work done last week
        quasi sentinel: OCQ180 = Hours worked last week in total at all jobs
        quasi code3: HOQ065 = Home owned, bought, rented, other: housing
        quasi count: HOD050 = Number of rooms in home
        sensitive sentinel: INQ244 = Family has savings more than 5000
        {labs}
        {urine}
        {foods}
        """,
        rows,
    )


def hospital_german() -> Labelled:
    """A hospital's cases with German names, after the data set of section 21 KHEntgG and usual registers."""
    return table(
        "hospital_german",
        """
        person visits: Patientennummer
        identifier id: Fallnummer Versichertennummer
        identifier name: Nachname Vorname Geburtsname
        identifier phone: Telefon
        identifier email: E-Mail-Adresse
        identifier place: Strasse
        identifier text: Bemerkungen
        quasi date: Geburtsdatum
        quasi code2: Geschlecht
        quasi zip: Postleitzahl
        quasi place: Wohnort Geburtsort Bundesland Gemeinde
        quasi code4: Familienstand Staatsangehoerigkeit Muttersprache
        quasi code9: Beruf Schulabschluss
        quasi count: Kinderzahl
        quasi date: Aufnahmedatum Entlassungsdatum Verlegungsdatum
        quasi code5: Station Fachabteilung Aufnahmeart Einweisender_Arzt Krankenhaus
        sensitive code5: Aufnahmegrund Entlassgrund Krankenkasse Pflegegrad Konfession
        sensitive icd: Hauptdiagnose Nebendiagnose_1 Nebendiagnose_2 Nebendiagnose_3
        sensitive code9: OPS_Prozedur_1 OPS_Prozedur_2 DRG Medikament_1 Medikament_2 Dosis Operation Therapie
        sensitive count: Verweildauer Beatmungsstunden Krankheitstage
        sensitive yn: Raucher Alkoholkonsum Diabetes Bluthochdruck Schwangerschaft Allergie Depression Suizidversuch
        sensitive yn: Behinderung Krebs Schlaganfall Herzinfarkt Drogenkonsum Impfstatus Sterbefall_Todesursache
        sensitive number: Blutdruck_systolisch Blutdruck_diastolisch Cholesterin Blutzucker Haemoglobin Leukozyten
        sensitive number: Kreatinin Natrium Kalium Laborwert_CRP Harnsaeure Thrombozyten Puls Koerpertemperatur
        quasi number: Koerpergroesse Koerpergewicht
        sensitive money: Behandlungskosten Zuzahlung_Betrag Rechnungsbetrag
        """,
    )


def tax() -> Labelled:
    """A tax file, after the public use file of the Internal Revenue Service and its documentation: 70 columns."""
    codes = "e00200 e00300 e00400 e00600 e00650 e00700 e00800 e00900 e01100 e01400 e01500 e01700 e02000 e02100 e02300 e02400"
    codes += " e03150 e03210 e03220 e03230 e03270 e03290 e07240 e07260 e09700 e17500 e18400 e18500 e19200 e19800 e20100 e58990"
    return table(
        "tax",
        f"""
        identifier id: RECID taxpayer_id
        identifier name: taxpayer_name spouse_name
        identifier id: ssn
        identifier place: street_address
        quasi zip: zip
        quasi place: state county
        quasi code5: filing_status MARS occupation
        quasi count: dependents num_children XTOT
        quasi age: age_head age_spouse
        quasi year: tax_year
        sensitive money: {codes}
        sensitive money: wages salaries taxable_interest dividends business_income capital_gains pension_income
        sensitive money: social_security_benefits unemployment_compensation adjusted_gross_income taxable_income total_tax
        sensitive money: refund_amount charitable_contributions mortgage_interest medical_expenses student_loan_interest
        sensitive money: child_tax_credit earned_income_credit estimated_payments alimony_paid ira_deduction
        drop weight: S006
        sensitive yn: itemized_deductions self_employment_tax foreign_tax_credit
        sensitive gap: penalty_amount
        """,
    )


def telecom() -> Labelled:
    """Customers of a telephone company, after the Telco and Cell2Cell lists: 62 columns."""
    return table(
        "telecom",
        """
        identifier id: customerID
        identifier phone: MSISDN
        identifier id: IMEI
        identifier email: ContactEmail
        identifier name: AccountHolderName
        quasi code2: Gender
        quasi age: AgeHH1 AgeHH2
        quasi yn: SeniorCitizen Partner Dependents ChildrenInHH MaritalStatus OwnsComputer TruckOwner Homeownership
        quasi code9: Occupation ServiceArea HandsetModels PrizmCode_urbanicity
        quasi zip: ZipCode
        quasi place: City State
        quasi count: tenure_months UniqueSubs ActiveSubs Handsets
        quasi yn: PhoneService MultipleLines OnlineSecurity_plan DeviceProtection_plan StreamingTV_plan PaperlessBilling
        quasi code3: InternetService_package Contract PaymentMethod
        sensitive money: MonthlyCharges TotalCharges MonthlyRevenue TotalRecurringCharge OverageMinutesCharge CurrentBalance
        sensitive number: MonthlyMinutes RoamingCalls DroppedCalls BlockedCalls UnansweredCalls CustomerCareCalls ThreewayCalls
        sensitive number: ReceivedCalls OutboundCalls InboundCalls PeakCallsInOut OffPeakCallsInOut DroppedBlockedCalls
        sensitive number: CallForwardingCalls CallWaitingCalls DirectorAssistedCalls data_usage_gb sms_sent intl_minutes
        sensitive code7: CreditRating IncomeGroup
        sensitive yn: Churn RespondsToMailOffers_purchases MadeCallToRetentionTeam complaint_filed late_payment
        sensitive count: RetentionCalls ReferralsMadeBySubscriber_purchases
        """,
    )


def school_french() -> Labelled:
    """Pupils of a French school, after the files of schools: 55 columns."""
    return table(
        "school_french",
        """
        identifier id: numero_eleve INE
        identifier name: nom prenom nom_responsable_legal
        identifier phone: telephone
        identifier email: courriel_parent
        identifier place: adresse
        identifier text: observations
        quasi date: date_naissance
        quasi place: lieu_naissance commune departement
        quasi zip: code_postal
        quasi code2: sexe
        quasi code6: nationalite langue_maternelle classe niveau filiere etablissement
        quasi code9: profession_pere profession_mere
        quasi code4: situation_familiale
        quasi count: nombre_enfants
        quasi year: annee_entree_lycee
        quasi code3: diplome_mere enseignant_principal
        sensitive number: moyenne_generale note_maths note_francais note_anglais note_histoire note_sport moyenne_trimestre_1
        sensitive number: moyenne_trimestre_2 moyenne_trimestre_3 resultat_brevet
        sensitive count: absences_injustifiees retards sanctions exclusions redoublements
        sensitive yn: boursier handicap besoin_particulier suivi_psychologique allergie maladie_chronique traitement_medical
        sensitive yn: mention_bac religion consommation_tabac
        sensitive money: revenu_foyer quotient_familial montant_bourse
        sensitive text: appreciation_conseil
        """,
    )


def staff() -> Labelled:
    """Employees, after the public attrition lists: 60 columns."""
    return table(
        "staff",
        """
        identifier id: EmployeeNumber BadgeNumber
        identifier name: FirstName LastName EmergencyContactName
        identifier email: WorkEmail
        identifier phone: MobilePhone
        identifier place: HomeAddress
        identifier id: BankAccount NationalInsuranceNumber
        quasi age: Age
        quasi date: DateOfBirth HireDate TerminationDate
        quasi code2: Gender
        quasi code5: MaritalStatus Education EducationField Ethnicity Citizenship
        quasi place: OfficeLocation City Country
        quasi code6: Department JobRole JobLevel BusinessTravel Manager Shift ContractType
        quasi count: YearsAtCompany YearsInCurrentRole YearsWithCurrManager TotalWorkingYears NumCompaniesWorked Dependents
        quasi number: DistanceFromHome
        sensitive money: MonthlyIncome HourlyRate DailyRate AnnualSalary Bonus StockOptionLevel PensionContribution
        sensitive code5: PerformanceRating JobSatisfaction EnvironmentSatisfaction WorkLifeBalance_satisfaction RelationshipSatisfaction
        sensitive yn: Attrition OverTime DisciplinaryAction Disability Promoted UnionMember DrugTestResult BackgroundCheck
        sensitive count: SickDays AbsenceDays TrainingScore WarningsReceived
        sensitive code5: ReasonForLeaving MentalHealthLeave HealthPlanClaims
        sensitive number: PercentSalaryHike EngagementScore
        """,
    )


def hospital_spanish() -> Labelled:
    """Hospital stays with Spanish names, after public registers of Latin America."""
    return table(
        "hospital_spanish",
        """
        person visits: id_paciente
        identifier id: expediente CURP
        identifier name: nombre apellido_paterno apellido_materno
        identifier phone: telefono
        identifier place: direccion
        quasi date: fecha_nacimiento fecha_ingreso fecha_egreso fecha_sintomas fecha_defuncion
        quasi code2: sexo
        quasi age: edad
        quasi place: municipio_residencia entidad_nacimiento localidad pais_origen
        quasi zip: codigo_postal
        quasi code4: estado_civil nacionalidad idioma tipo_paciente
        quasi code9: ocupacion escolaridad unidad_medica servicio
        quasi yn: habla_lengua_indigena migrante
        sensitive icd: diagnostico_principal diagnostico_secundario causa_muerte
        sensitive yn: diabetes hipertension obesidad asma epoc tabaquismo embarazo intubado neumonia inmunosupresion
        sensitive yn: vih cancer depresion consumo_drogas consumo_alcohol discapacidad enfermedad_renal violencia_intrafamiliar
        sensitive number: presion_sistolica glucosa colesterol hemoglobina creatinina plaquetas leucocitos trigliceridos
        sensitive code5: tratamiento medicamento procedimiento cirugia resultado_laboratorio vacuna religion
        sensitive money: costo_tratamiento ingreso_mensual
        sensitive count: dias_estancia_uci
        quasi number: peso talla
        identifier text: observaciones
        """,
    )


def staff_italian_dutch_chinese() -> Labelled:
    """Employees of a company with three languages in its files."""
    return table(
        "staff_italian_dutch_chinese",
        """
        identifier name: cognome nome_dipendente achternaam 姓名
        identifier id: codice_fiscale matricola burgerservicenummer 身份证号
        identifier phone: cellulare telefoonnummer 手机号码
        identifier email: e_mail
        identifier place: indirizzo 家庭住址
        quasi date: data_di_nascita geboortedatum 出生日期 data_assunzione 入职日期
        quasi code2: sesso geslacht 性别
        quasi place: comune_residenza woonplaats 城市 provincia
        quasi zip: postcode
        quasi code5: stato_civile burgerlijke_staat 婚姻状况 titolo_di_studio opleidingsniveau 学历 cittadinanza nationaliteit 民族
        quasi code9: mansione qualifica functie afdeling 部门 职务 reparto
        quasi count: numero_figli aantal_kinderen anzianita_servizio 工龄
        sensitive money: stipendio_lordo retribuzione_annua brutosalaris pensioenpremie 工资 奖金 premio_produzione
        sensitive code5: valutazione_annuale beoordeling 绩效考核 religione geloofsovertuiging 政治面貌 tessera_sindacale_sindacato
        sensitive count: giorni_malattia ziekteverzuim_dagen 病假天数 straordinari overuren 加班时长 assenze
        sensitive yn: disabilita invalidita_civile arbeidsongeschiktheid 残疾 gravidanza zwangerschap 怀孕 licenziamento ontslagreden
        sensitive icd: diagnosi_inail
        sensitive yn: vaccinazione 吸烟 alcoholgebruik procedimento_disciplinare_provvedimento
        """,
    )


def households_portuguese() -> Labelled:
    """Households and their income with Portuguese names, after the household surveys of Brazil."""
    return table(
        "households_portuguese",
        """
        identifier id: numero_registro CPF
        identifier name: nome_completo nome_mae
        identifier phone: telefone_celular
        identifier place: endereco
        quasi age: idade
        quasi date: data_nascimento
        quasi code2: sexo
        quasi code5: cor_raca estado_civil nacionalidade escolaridade
        quasi place: municipio bairro uf regiao
        quasi zip: cep
        quasi code9: ocupacao cargo setor_atividade curso
        quasi count: numero_filhos numero_moradores comodos
        quasi yn: casa_propria_imovel_proprio automovel
        sensitive money: renda_mensal renda_familiar salario_bruto aposentadoria valor_aluguel despesa_saude despesa_alimentacao
        sensitive money: divida_total imposto_renda bolsa_familia emprestimo poupanca pensao_alimenticia
        sensitive yn: plano_saude deficiencia_fisica doenca_cronica diabetes hipertensao depressao fumante tabagismo
        sensitive yn: consumo_alcool gravidez_gestante vacina_covid vitima_violencia religiao
        sensitive number: imc pressao_arterial glicemia
        sensitive code5: nota_enem desempenho_escolar bolsista_bolsa partido_politico
        drop weight: peso_amostral
        insensitive code5: estrato
        """,
    )


def telephone_survey() -> Labelled:
    """A telephone survey on behaviour and risks with a dictionary, after BRFSS."""
    return table(
        "telephone_survey",
        """
        identifier id: SEQNO = Annual sequence number
        quasi code9: _STATE = State FIPS code
        quasi code9: IMONTH = Interview month
        quasi code9: IYEAR = Interview year
        insensitive code2: DISPCODE = Final disposition of the interview
        quasi count: NUMADULT = Number of adults in household
        quasi code2: SEXVAR = Sex of respondent
        sensitive code5r: GENHLTH = General health
        sensitive sentinel: PHYSHLTH = Number of days physical health not good
        sensitive sentinel: MENTHLTH = Number of days mental health not good
        sensitive sentinel: POORHLTH = Poor physical or mental health
        sensitive code2r: HLTHPLN1 = Have any health care coverage
        sensitive code3r: PERSDOC2 = Have a personal health care provider
        sensitive code2r: MEDCOST = Could not see doctor because of cost
        sensitive code4r: CHECKUP1 = Length of time since last routine checkup, health
        sensitive code2r: BPHIGH4 = Ever told blood pressure high
        sensitive code2r: BPMEDS = Currently taking blood pressure medication
        sensitive code2r: TOLDHI2 = Ever told blood cholesterol high
        sensitive code2r: CVDINFR4 = Ever diagnosed with heart attack
        sensitive code2r: CVDSTRK3 = Ever diagnosed with a stroke
        sensitive code2r: ASTHMA3 = Ever told had asthma
        sensitive code2r: CHCSCNCR = Ever told you had skin cancer
        sensitive code2r: HAVARTH3 = Told have arthritis
        sensitive code2r: ADDEPEV2 = Ever told you had a depressive disorder
        sensitive code2r: CHCKIDNY = Ever told you have kidney disease
        sensitive code4r: DIABETE3 = Ever told you have diabetes
        quasi code6r: MARITAL = Marital status
        quasi code6r: EDUCA = Education level
        quasi code3r: RENTHOM1 = Own or rent home
        quasi code2r: VETERAN3 = Are you a veteran
        quasi code8: EMPLOY1 = Employment status
        quasi count: CHILDREN = Number of children in household
        sensitive code8: INCOME2 = Income level
        quasi code2r: INTERNET = Internet use in the past 30 days
        quasi number: WEIGHT2 = Reported weight in pounds
        quasi number: HEIGHT3 = Reported height in feet and inches
        sensitive code2r: PREGNANT = Pregnancy status
        sensitive code2r: DEAF = Are you deaf or do you have serious difficulty hearing
        sensitive code2r: BLIND = Blind or difficulty seeing
        sensitive code2r: DECIDE = Difficulty concentrating or remembering
        sensitive code2r: SMOKE100 = Smoked at least 100 cigarettes
        sensitive sentinel: ALCDAY5 = Days in past 30 had alcoholic beverage
        sensitive sentinel: FRUIT1 = How many times did you eat fruit, diet
        sensitive code2r: EXERANY2 = Exercise in past 30 days
        sensitive code3r: SEATBELT = How often use seatbelts in car
        sensitive code2r: FLUSHOT6 = Adult flu shot or spray past 12 months, vaccine
        sensitive code2r: HIVTST6 = Ever tested HIV
        sensitive date: HIVTSTD3 = Month and year of last HIV test
        drop weight: _LLCPWT = Final weight: land-line and cell-phone data
        insensitive code9: _STSTR = Sample design stratification variable, stratum
        """,
    )


def students() -> Labelled:
    """Pupils of two schools in Portugal, after the list of the UCI repository."""
    return table(
        "students",
        """
        quasi code2: school sex address famsize Pstatus
        quasi age: age
        quasi code5: Medu Fedu Mjob Fjob guardian reason
        quasi code4: traveltime
        sensitive code4: studytime failures
        sensitive yn: schoolsup famsup paid romantic
        quasi yn: activities nursery higher internet
        sensitive code5: famrel freetime goout Dalc Walc health
        sensitive count: absences G1 G2 G3
        """,
    )


def intensive_care() -> Labelled:
    """Admissions to intensive care, after the tables of MIMIC."""
    return table(
        "intensive_care",
        """
        person visits: subject_id
        identifier id: hadm_id icustay_id
        quasi date: admittime dischtime deathtime dob dod
        quasi code2: gender
        quasi code5: admission_type admission_location discharge_location language marital_status ethnicity first_careunit
        quasi age: anchor_age
        sensitive code5: insurance religion hospital_expire_flag
        sensitive icd: icd9_code
        sensitive text: diagnosis
        sensitive number: heart_rate sbp dbp mean_bp resp_rate temperature spo2 glucose gcs lactate creatinine bun wbc
        sensitive number: hemoglobin platelet sodium potassium bicarbonate chloride inr bilirubin albumin troponin ph
        sensitive yn: ventilation vasopressor dialysis sepsis aki
        sensitive number: sofa_score apsiii los_icu urine_output
        sensitive code9: drug dose route_of_medication drg_code procedure_code
        """,
    )


def justice() -> Labelled:
    """People before court, after the list of ProPublica on COMPAS."""
    return table(
        "justice",
        """
        identifier id: id
        identifier name: name first last
        quasi code2: sex
        quasi date: dob compas_screening_date c_offense_date
        quasi age: age
        quasi code3: age_cat
        quasi code6: race
        sensitive count: juv_fel_count juv_misd_count priors_count days_in_jail
        sensitive code9: decile_score score_text c_charge_degree c_charge_desc r_charge_degree vr_offense_date_type
        sensitive yn: is_recid is_violent_recid two_year_recid
        identifier id: c_case_number r_case_number
        sensitive date: c_jail_in c_jail_out in_custody
        """,
    )


def claims_dutch() -> Labelled:
    """Claims of a Dutch insurer: a policyholder, a vehicle, what happened, what was paid."""
    return table(
        "claims_dutch",
        """
        identifier id: polisnummer schadenummer rekeningnummer_iban
        identifier name: naam_verzekeringnemer contactpersoon
        identifier phone: mobiel_nummer
        identifier email: emailadres
        identifier text: toelichting_schade omschrijving_voorval
        quasi date: geboortedatum_verzekerde ingangsdatum_polis schadedatum
        quasi code2: geslacht_verzekerde
        quasi zip: postcode_verzekerde
        quasi place: woonplaats_verzekerde gemeente_ongeval
        quasi code5: gezinssamenstelling beroep_verzekerde opleiding land_van_herkomst
        quasi count: aantal_kinderen bouwjaar_voertuig
        quasi code9: automerk voertuigtype
        quasi age: leeftijd_bestuurder
        sensitive money: schadebedrag uitgekeerd_bedrag eigen_risico jaarinkomen premie_per_jaar verzekerd_bedrag
        sensitive yn: letselschade fraude_vermoeden rijden_onder_invloed alcohol_in_het_bloed ziekenhuisopname
        sensitive yn: roker chronische_aandoening strafblad schuldsanering arbeidsongeschikt
        sensitive icd: diagnosecode_letsel
        sensitive count: schadevrije_jaren aantal_eerdere_claims ziektedagen
        sensitive code5: medicijngebruik psychische_klachten kredietscore
        insensitive one: valuta bronbestand
        """,
    )


def trial_chinese() -> Labelled:
    """A clinical trial with Chinese names of columns and a few of the usual English codes."""
    return table(
        "trial_chinese",
        """
        person visits: 受试者编号
        identifier name: 患者姓名 研究者姓名
        identifier id: 病历号 身份证号码 样本编号
        identifier phone: 联系电话
        identifier text: 备注
        quasi age: 年龄
        quasi code2: 性别
        quasi date: 出生日期 入组日期 随访日期 知情同意日期
        quasi code5: 民族 婚姻状况 教育程度 职业 居住地
        quasi place: 中心名称 户籍所在地 邮政编码
        sensitive number: 身高 体重 收缩压 舒张压 心率 体温 血糖 糖化血红蛋白 总胆固醇 甘油三酯 肌酐 白细胞计数 血红蛋白 血小板
        sensitive icd: 主要诊断 诊断编码
        sensitive yn: 糖尿病史 高血压史 吸烟史 饮酒史 家族史 过敏史 妊娠 乙肝 艾滋病 不良事件 严重不良事件 合并用药 手术史 死亡
        sensitive code5: 肿瘤分期 治疗方案 疗效评价 抑郁评分 生活质量 疼痛评分 用药剂量
        sensitive money: 医疗费用 家庭收入
        insensitive code2: 随机分组
        """,
    )


TUNED = (
    survey,
    hospital_german,
    tax,
    telecom,
    school_french,
    staff,
    telephone_survey,
    students,
    claims_dutch,
    trial_chinese,
)
KEPT_BACK = (hospital_spanish, staff_italian_dutch_chinese, households_portuguese, intensive_care, justice)
SHARED = {
    "adult.csv.gz": {
        "quasi": "age workclass education education-num marital-status occupation relationship race sex hours-per-week "
        "native-country",
        "sensitive": "capital-gain capital-loss income",
        "drop": "fnlwgt",
        "insensitive": "split",
    },
    "hcv.csv.gz": {"quasi": "Age Sex", "sensitive": "Category ALB ALP ALT AST BIL CHE CHOL CREA GGT PROT"},
    "ilpd.csv.gz": {
        "quasi": "age gender",
        "sensitive": "total_bilirubin direct_bilirubin alkaline_phosphatase sgpt_alt sgot_ast total_proteins albumin "
        "albumin_globulin_ratio class",
    },
    "covid_mx.parquet": {
        "quasi": "USMER MEDICAL_UNIT SEX PATIENT_TYPE DATE_DIED AGE",
        "sensitive": "INTUBED PNEUMONIA PREGNANT DIABETES COPD ASTHMA INMSUPR HIPERTENSION OTHER_DISEASE CARDIOVASCULAR "
        "OBESITY RENAL_CHRONIC TOBACCO CLASIFFICATION_FINAL ICU",
    },
    "credit_default_tw.parquet": {
        "identifier": "ID",
        "quasi": "SEX EDUCATION MARRIAGE AGE",
        "sensitive": "LIMIT_BAL PAY_0 PAY_2 PAY_3 PAY_4 PAY_5 PAY_6 BILL_AMT1 BILL_AMT2 BILL_AMT3 BILL_AMT4 BILL_AMT5 "
        "BILL_AMT6 PAY_AMT1 PAY_AMT2 PAY_AMT3 PAY_AMT4 PAY_AMT5 PAY_AMT6 default_payment_next_month",
    },
    "diabetes130.parquet": {
        "identifier": "encounter_id",
        "person": "patient_nbr",
        "quasi": "race gender age weight admission_type_id discharge_disposition_id admission_source_id payer_code "
        "medical_specialty number_outpatient number_emergency number_inpatient time_in_hospital",
        "sensitive": "num_lab_procedures num_procedures num_medications diag_1 diag_2 diag_3 number_diagnoses max_glu_serum "
        "A1Cresult metformin repaglinide nateglinide chlorpropamide glimepiride glipizide glyburide tolbutamide "
        "pioglitazone rosiglitazone acarbose miglitol insulin glyburide-metformin change diabetesMed readmitted",
    },
    "census_income_kdd.parquet": {
        "quasi": "age class_of_worker detailed_industry_recode detailed_occupation_recode education "
        "enroll_in_edu_inst_last_wk marital_stat major_industry_code major_occupation_code race hispanic_origin sex "
        "full_or_part_time_employment_stat region_of_previous_residence state_of_previous_residence "
        "detailed_household_and_family_stat detailed_household_summary_in_household migration_code_change_in_msa "
        "migration_code_change_in_reg live_in_this_house_1_year_ago num_persons_worked_for_employer "
        "family_members_under_18 country_of_birth_father country_of_birth_mother country_of_birth_self citizenship "
        "own_business_or_self_employed weeks_worked_in_year year",
        "sensitive": "wage_per_hour member_of_a_labor_union reason_for_unemployment capital_gains capital_losses "
        "dividends_from_stocks veterans_benefits income",
        "drop": "instance_weight",
        "insensitive": "split",
    },
}
"""Roles of the columns of the tables in the shared folder, as far as a careful steward would not hesitate."""
