import { CLIENTS, cardOfClient, resultsOf, writeCards } from './cards.ts'
import { certifyLibrary, FOREIGN } from './foreign.ts'

// `npm run cards`: certifies the clients again. `npm run docs` then updates the page.
const cards: Record<string, Record<string, string>> = {}
for (const name of Object.keys(CLIENTS)) cards[name] = { ...(await cardOfClient(name)) }
for (const name of FOREIGN) cards[name] = resultsOf(await certifyLibrary(name))
writeCards(cards)
process.exit(0)
