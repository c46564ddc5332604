/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The measures of the signal, as both sides number them.
 */
#ifndef DWELL_FAULTS_H
#define DWELL_FAULTS_H

enum faults_kind { FAULTS_MINOR, FAULTS_MAJOR, FAULTS_MINOR_STACK, FAULTS_MAJOR_STACK };

#endif
