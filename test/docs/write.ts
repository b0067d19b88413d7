import { writeFileSync } from 'node:fs'
import { readPages } from './pages.ts'
import { withReferences } from './reference.ts'

// `npm run docs`: writes the generated parts of the pages anew.
for (const [path, text] of readPages()) {
  const now = withReferences(text)
  if (now !== text) {
    writeFileSync(path, now)
    console.log(`${path} was written`)
  }
}
