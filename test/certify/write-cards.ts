import { writeFileSync } from 'node:fs'
import { CLIENTS, cardOfClient, resultsOf } from './cards.ts'
import { certifyLibrary, FOREIGN } from './foreign.ts'

// `npm run cards`: certifies the clients again. `npm run docs` then updates the page.
const cards: Record<string, object> = {}
for (const name of Object.keys(CLIENTS)) cards[name] = await cardOfClient(name)
for (const name of FOREIGN) cards[name] = resultsOf(await certifyLibrary(name))
writeFileSync('test/certify/cards.json', `${JSON.stringify(cards, null, 2)}\n`)
process.exit(0)
