export { teardown as default } from 'devchain/jest'
