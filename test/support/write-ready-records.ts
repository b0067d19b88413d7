import { writeFileSync } from 'node:fs'
import { readyRecordsOfDemo } from './ready-records.ts'

// `npm run fixtures`: after a change of fixtures/demo.json, of a generator or of faker.
writeFileSync('fixtures/demo.seed-1.json', await readyRecordsOfDemo())
