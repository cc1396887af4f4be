// Loaded by node in every process of a test run with chains (`devchain exec --chains`, devchain/jest).
import { followWorker } from './workers.ts'

followWorker()
