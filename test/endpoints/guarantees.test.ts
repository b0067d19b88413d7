import { testGuarantees } from './guarantees.ts'

testGuarantees(['socket'])
