// The vocabulary of the sample records: common English business words, names and places.

export const FIRST_NAMES: readonly string[] = list(`
Amelia Anders Beatriz Bruno Camille Carlos Chiara Daniel Dora Elif Emil Farah Felix Greta Hamid Hanna Henrik Ingrid Ivan Jana
Jonas Karim Katya Lars Leila Liam Lucia Mara Marek Mateo Mina Nadia Nils Noor Olga Oscar Paula Pavel Petra Quentin Rania Rafael
Rosa Samir Sara Selma Simon Sofia Stefan Tamar Theo Ursula Vera Viktor Wanda Xenia Yusuf Yvonne Zeynep Zoe`);

export const LAST_NAMES: readonly string[] = list(`
Abbott Almeida Andersen Bauer Becker Bianchi Blanchard Bonnet Carvalho Castro Cohen Conti Costa Demir Dubois Duarte Eriksen Fischer
Fontaine Garcia Haddad Hansen Hoffmann Horvat Ibrahim Ivanov Jansen Kaya Keller Kowalski Larsen Lefevre Lindqvist Lopez Marino
Martins Meyer Molnar Moreau Murphy Navarro Novak Okafor Olsen Petrov Pereira Quinn Ricci Rossi Santos Schneider Silva Sorensen
Takahashi Torres Unger Varga Vogel Wagner Weber Winter Yilmaz Zeller Zimmermann`);

export const PLACES: readonly string[] = list(`
Aarhus Antwerp Athens Basel Bergen Bilbao Bologna Bordeaux Bremen Brno Bruges Cadiz Cologne Cork Dresden Dublin Florence Gdansk
Geneva Ghent Graz Hamburg Helsinki Izmir Krakow Leipzig Leuven Lille Linz Lisbon Lyon Malmo Marseille Milan Munich Nantes Oporto
Oslo Ostrava Palermo Parma Poznan Prague Riga Rotterdam Seville Sofia Split Tallinn Trieste Turin Uppsala Utrecht Valencia Verona
Vienna Vilnius Warsaw Zagreb Zurich`);

export const WORDS: readonly string[] = list(`
about above accept account across action active actual added address adjust advance advice after again against agency agreed
ahead alarm allow almost alone along already also always amount annual another answer anyone appear apply approve april area
around arrive article ask assist attach august author autumn available average avoid award aware away balance bank basic basket
because become before begin behind believe below benefit besides best better between beyond bicycle bill birth black block blue
board book border both bottle bottom bought branch bread break bridge brief bring broken brother brown budget build business busy
button buyer cabin cable calendar call camera cancel candle carbon card careful carry carton case cash catalog cause center certain
chain chair chance change charge cheap check choice circle city claim class clean clear clerk client close closed cloth coach coast
coffee collect colour come comfort common company compare complete concern confirm connect consider contact contain content
contract control copper copy corner correct cost cotton counter country couple courier course cover create credit current custom
customer daily damage date dealer debit december decide declare deep default defect degree delay deliver demand depend deposit
depot design desk detail device differ digital dinner direct discount discuss dispatch display distance district divide document
dollar door double draft drawer dress drink driver during early earn easy edge effect effort eight either electric eleven email
empty enclosed engine enough enter entire envelope equal error escape estimate even evening event every exact example except
exchange excuse expect expense expert explain express extend extra fabric factor factory fair family farm fast fault february few
field fifteen figure file fill final find finish first fit five fix flat flight floor flower folder follow force foreign forest
forget form forward found frame free freight fresh friday friend from front fruit full function further future garden gather
general gentle gift glass goods grant great green grey ground group grow guard guess guest guide half hand handle happen happy
harbour hard have heavy height help high hold holiday home honest hope hotel hour house however hundred idea ignore image import
improve inch include income increase indeed index inform initial inquiry inside insist inspect install instead insure interest
into invite invoice iron issue item january join journey judge july june just keep kitchen know label ladder lamp large last late
later launch lawyer layer lead learn least leather leave left legal lemon length less letter level library license lift light
limit linen list little load loan local lock long loose lose loss lower loyal lunch machine magazine mail main manage manual
march margin mark market master match material matter mean measure medium meet member memory mention merchant message metal
method middle might mile million mind minor minute mirror missing mistake model modern moment monday money month more morning
most motor mount move much must name narrow nation near nearly need neither network never next night nine noise normal north
note nothing notice november number object observe occur october offer office often older once only open option orange order
origin other outside oven over overdue owner package page paid paint paper parcel part partner party pass patient pattern pay
payment pencil people percent perfect perhaps period permit person phone picture piece place plain plan plant plate please plenty
point policy polite popular port position possible post powder power prefer prepare present price print private problem process
produce profit program promise proper protect proud prove provide public purchase purple purpose quality quarter question quick
quiet quite quote radio railway rain raise range rapid rate rather reach read ready reason rebate receipt receive recent record
reduce refer refund refuse region regret regular relate release remain remark remind remote remove rent repair repeat replace
reply report request require reserve respect rest result retail return review reward right river road roof room round route
rubber rule safe salary sale same sample saturday save scale school screen season seat second secret section secure select
seller send senior separate september series serious serve service settle seven several shape share sharp sheet shelf shift
ship shop short should show side sign signal silver similar simple since single site size skill sleep slow small smooth social
soft solid some soon sort sound source south space spare speak special speed spend spring square staff stage stamp standard
start state station stay steel step still stock stone stop store storm story street strong student study style subject submit
such sudden suffer sugar suggest suit summer sunday supply support sure surface surplus switch system table take target tariff
task team ten term test thank that their them then there these they thick thin thing think third thirty this those though
thousand three through thursday ticket till time title today together tomorrow tonight tool total touch toward tower town track
trade traffic train transfer travel treat trial trouble truck trust try tuesday turn twelve twenty twice type under union unit
until update upon urgent usual vacant valid value van various vendor version very view village visit voice volume voucher wait
wall want warehouse warm warranty watch water weather wednesday week weight welcome west wheel when where whether which while
white whole wide window winter wish with within without wonder wood word work worker world worth would write wrong yard year
yellow yesterday yet young zero zone`);

function list(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
