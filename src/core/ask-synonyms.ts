import { stem } from "./stem.ts";

/** Words that callers use for one another. A synonym counts less than the word itself (ask-rank.ts). */
const GROUPS = `
  merge combine join concatenate unite
  split separate divide
  invoice bill
  client customer
  convert conversion transform exchange
  weather forecast climate temperature
  picture image photo photograph
  delete remove erase
  create generate build compose produce
  find search lookup discover locate
  fetch retrieve
  edit modify update change
  document file paper
  email mail
  message text chat
  flight airline plane airfare
  hotel accommodation lodging room
  restaurant dining eat
  recipe cook cooking meal dish
  stock share equity
  price cost quote rate
  news headline article
  job career vacancy employment
  calculate compute calculation
  schedule calendar appointment
  task todo
  person contact people
  shop buy purchase shopping
  product item goods
  movie film
  music song track
  video clip
  map location place address
  summary summarize summarise
  chart graph plot diagram
  car vehicle automobile
  house home property estate
  website webpage url page site
  trip travel vacation journey
  health medical healthcare
  money currency
  translate translation
  time date clock
  book novel
  course lesson class
  gift present
  joke funny humor
  astrology horoscope zodiac
  lawyer legal law
  play game
  run execute invoke
  list enumerate
`;

/** Stem → stems of the same groups, itself excluded. */
export const SYNONYMS: ReadonlyMap<string, ReadonlySet<string>> = makeSynonyms(GROUPS);

function makeSynonyms(groups: string): Map<string, Set<string>> {
  const synonyms = new Map<string, Set<string>>();
  for (const line of groups.split("\n")) {
    const stems = [...new Set(line.trim().split(/\s+/).filter(Boolean).map(stem))];
    for (const own of stems) {
      const others = synonyms.get(own) ?? new Set<string>();
      for (const other of stems) if (other !== own) others.add(other);
      synonyms.set(own, others);
    }
  }
  return synonyms;
}
