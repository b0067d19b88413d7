import { writeFileSync } from 'node:fs'
import { readPages } from './pages.ts'
import { withReferences } from './reference.ts'

// `npm run docs`: updates the generated parts of the pages.
for (const [path, text] of readPages()) {
  const now = withReferences(text)
  if (now !== text) {
    writeFileSync(path, now)
    console.log(`${path} was written`)
  }
}
