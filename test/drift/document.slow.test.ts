import { harChanges } from './har-changes.ts'
import { testHarChanges } from './har-changes-tests.ts'

testHarChanges(harChanges)
