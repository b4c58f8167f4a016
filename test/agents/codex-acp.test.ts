import { describeProgram } from './contract.ts';
import { codexAcp } from './programs.ts';

describeProgram(codexAcp);
