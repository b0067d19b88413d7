import { readFileSync, writeFileSync } from 'node:fs'
import { withReferences } from './reference.ts'

// `npm run docs`: writes the generated parts of the README anew.
writeFileSync('README.md', withReferences(readFileSync('README.md', 'utf8')))
