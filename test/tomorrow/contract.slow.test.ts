import { testChanges } from './contract.ts'

// 500 responses of each kind.
testChanges(15)
