import { writeFileSync } from 'node:fs'
import { llmsFiles } from './llms.ts'
import { readPages } from './pages.ts'
import { withReferences } from './reference.ts'

// `npm run docs`: updates the generated parts of the pages, and the files for language models.
for (const [path, text] of readPages()) {
  const now = withReferences(text)
  if (now !== text) {
    writeFileSync(path, now)
    console.log(`${path} was written`)
  }
}

for (const [path, text] of Object.entries(llmsFiles(readPages()))) writeFileSync(path, text)
