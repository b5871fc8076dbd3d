// The baseline for closed loops in C++: Pinocchio and coordinate partitioning, one thread.
//
// As one writes it with care; its models come from partitioned.py, as arrays. Cut spherical joints
// close loops by three equations each. Newton starts from the last sample, moved on by speeds,
// accelerations and their change; it keeps its factors while updates are small. Then come joint
// Jacobians once more, T of the dependent speeds, the loops' accelerations from one pass of
// forward kinematics, and W = (J T)ᵀ R body by body, J and R Pinocchio's joint Jacobian and body
// regressor. (Tᵀ Y with Y of computeJointTorqueRegressor takes longer: a body's columns are
// carried from joint to joint, and need a second forward pass.) Sizes are known to the compiler.
//
// Headers alone: libpinocchio_default is not aligned for the vectors of -march=native.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <Eigen/LU>

#include "pinocchio/algorithm/jacobian.hpp"
#include "pinocchio/algorithm/joint-configuration.hpp"
#include "pinocchio/algorithm/kinematics.hpp"
#include "pinocchio/algorithm/regressor.hpp"
#include "pinocchio/multibody.hpp"

namespace pin = pinocchio;
using Eigen::Vector3d;
using Eigen::VectorXd;

using Revolute = pin::JointModelRevoluteTpl<double, 0, 2>;
using Prismatic = pin::JointModelPrismaticTpl<double, 0, 2>;
using Universal = pin::JointModelUniversalTpl<double, 0>;
using Spherical = pin::JointModelSphericalTpl<double, 0>;

// The joints that occur, and the mimic joint, without which Pinocchio does not compile: a shorter
// variant than Pinocchio's 25 is 5 % faster to run and takes half as long to compile.
template <typename Scalar_, int Options_>
struct FewJoints {
  using Scalar = Scalar_;
  static constexpr int Options = Options_;
  using JointModelMimic = pin::JointModelMimicTpl<Scalar, Options, FewJoints>;
  using JointDataMimic = pin::JointDataMimicTpl<Scalar, Options, FewJoints>;
  using JointModelVariant =
      boost::variant<Revolute, Prismatic, Universal, Spherical,
                     boost::recursive_wrapper<JointModelMimic>>;
  using JointDataVariant =
      boost::variant<pin::JointDataRevoluteTpl<Scalar, Options, 2>,
                     pin::JointDataPrismaticTpl<Scalar, Options, 2>,
                     pin::JointDataUniversalTpl<Scalar, Options>,
                     pin::JointDataSphericalTpl<Scalar, Options>,
                     boost::recursive_wrapper<JointDataMimic>>;
};
using Model = pin::ModelTpl<double, 0, FewJoints>;
using Data = pin::DataTpl<double, 0, FewJoints>;

// What Python hands over and gets back, in SI; arrays in C's order.
struct Batch {
  int joints, cuts, freedoms, variants, samples, kept;
  double step;               // s, between samples
  const int* kinds;          // (joint): revolute, prismatic, universal, spherical
  const int* parents;        // (joint): joints count from 1, 0 is the ground
  const int* carriers;       // (cut, side): the joint that carries the point
  const int* free;           // (freedom): its place among the speeds
  const double* gravity;     // (3)
  const double* placements;  // (variant, joint, 12): rotation by rows, origin
  const double* points;      // (variant, cut, side, 3): in the carrier's frame
  const double* start;       // (variant, position): where the first sample is looked for
  const double *q, *v, *a;   // (sample, freedom)
  double* W;                 // (kept, sample, parameter, freedom): variant n in n mod kept
  double* path;              // (variant, sample, position)
  double* gaps;              // (variant): largest coordinate of a gap after closure, m
};

// Updates of q, rad and m: the last by new factors, below which factors are kept, and rounding.
constexpr double FRESH = 1e-9, SMALL = 1e-4, ROUNDING = 1e-15;
constexpr int TRIES = 20;

template <int FREE, int BOUND>
class Loops {
 public:
  Loops(const Model& given, const Batch& batch) : batch(batch), model(given), data(model) {
    const int* const end = batch.free + FREE;
    for (int j = 1; j < model.njoints; ++j)
      for (int k = 0; k < model.nvs[j]; ++k) {
        const int i = model.idx_vs[j] + k, f = int(std::find(batch.free, end, i) - batch.free);
        column.push_back(f < FREE ? BOUND + f : int(bound.size()));
        if (f < FREE)
          place[f] = model.idx_qs[j] + k;  // free are one-axis joints
        else
          bound.push_back(i);
      }
    T.setZero();
    for (int f = 0; f < FREE; ++f) T(batch.free[f], f) = 1.0;
    for (VectorXd* x : {&v, &a, &a_before, &ahead, &zero}) x->setZero(model.nv);
    moved.resize(model.nq);
    points.resize(2 * batch.cuts);
    carried.resize(model.njoints);
  }

  // Follow the motion with variant n; whether its loops closed at every sample.
  bool follow(int n) {
    using Rotation = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
    const double* x = batch.placements + std::size_t(n) * batch.joints * 12;
    for (int j = 1; j < model.njoints; ++j, x += 12)
      model.jointPlacements[j] =
          pin::SE3(Eigen::Map<const Rotation>(x), Eigen::Map<const Vector3d>(x + 9));
    for (std::size_t k = 0; k < points.size(); ++k)
      points[k] = Eigen::Map<const Vector3d>(batch.points + 3 * (n * points.size() + k));
    q = Eigen::Map<const VectorXd>(batch.start + std::size_t(n) * model.nq, model.nq);
    for (VectorXd* x : {&v, &a, &a_before}) x->setZero();
    batch.gaps[n] = 0.0;
    const std::size_t size = std::size_t(FREE) * 10 * batch.joints;
    for (int s = 0; s < batch.samples; ++s) {
      if (!close(s)) return false;
      batch.gaps[n] = std::max(batch.gaps[n], gap.cwiseAbs().maxCoeff());
      accelerate(s);
      regress(batch.W + (std::size_t(n % batch.kept) * batch.samples + s) * size);
      VectorXd::Map(batch.path + (std::size_t(n) * batch.samples + s) * model.nq, model.nq) = q;
    }
    return true;
  }

 private:
  using Bound = Eigen::Matrix<double, BOUND, 1>;
  using Free = Eigen::Matrix<double, FREE, 1>;

  Vector3d point(std::size_t k) const { return data.oMi[batch.carriers[k]].act(points[k]); }

  // Second point less first, per cut.
  void measure() {
    for (int c = 0; c < batch.cuts; ++c)
      gap.template segment<3>(3 * c) = point(2 * c + 1) - point(2 * c);
  }

  // Gaps, their Jacobian (dependent columns first) and its factors.
  void linearise() {
    pin::computeJointJacobians(model, data, q);
    C.setZero();
    for (std::size_t k = 0; k < points.size(); ++k) {
      const Vector3d x = point(k);
      const double sign = k % 2 ? 1.0 : -1.0;
      for (const auto j : model.supports[batch.carriers[k]])  // the ground has no speeds
        for (int i = model.idx_vs[j]; j && i < model.idx_vs[j] + model.nvs[j]; ++i) {
          const auto J = data.J.col(i);
          C.template block<3, 1>(3 * (k / 2), column[i]) +=
              sign * (J.template head<3>() + J.template tail<3>().cross(x));
        }
    }
    measure();
    factors.compute(C.template leftCols<BOUND>());
  }

  void move(const VectorXd& by) {
    pin::integrate(model, q, by, moved);
    q.swap(moved);
  }

  // q of sample s, with gaps, Jacobian and factors there.
  bool close(int s) {
    const double dt = batch.step;
    ahead = dt * v + dt * dt / 2 * a + dt * dt / 6 * (a - a_before);
    move(ahead);
    for (int f = 0; f < FREE; ++f) q[place[f]] = batch.q[s * FREE + f];
    linearise();
    ahead.setZero();
    double before = 0.0;  // the last update with these factors
    for (int tries = 0; tries < TRIES; ++tries) {
      const Bound update = factors.solve(gap);
      for (int b = 0; b < BOUND; ++b) ahead[bound[b]] = -update[b];
      move(ahead);
      const double size = update.cwiseAbs().maxCoeff();
      // Updates fall squared by new factors, by one ratio with old ones: what is left is rounding.
      if (before > 0.0 ? size * size < ROUNDING * before : size < FRESH) {
        linearise();
        return true;
      }
      before = size < SMALL ? size : 0.0;
      if (size < SMALL) {
        pin::forwardKinematics(model, data, q);
        measure();
      } else {
        linearise();
      }
    }
    return false;
  }

  Vector3d acceleration(std::size_t k) const {
    const auto j = batch.carriers[k];
    const auto &V = data.v[j], &A = data.a[j];
    const Vector3d w = V.angular(), &x = points[k];
    return data.oMi[j].rotation() *
           (A.linear() + A.angular().cross(x) + w.cross(V.linear() + w.cross(x)));
  }

  // T, speeds and accelerations; `data` with those without joint accelerations.
  void accelerate(int s) {
    const Eigen::Matrix<double, BOUND, FREE> follows = factors.solve(C.template rightCols<FREE>());
    for (int b = 0; b < BOUND; ++b) T.row(bound[b]) = -follows.row(b);
    a_before = a;
    v.noalias() = T * Eigen::Map<const Free>(batch.v + s * FREE);
    a.noalias() = T * Eigen::Map<const Free>(batch.a + s * FREE);
    pin::forwardKinematics(model, data, q, v, zero);
    for (int c = 0; c < batch.cuts; ++c)
      drift.template segment<3>(3 * c) = acceleration(2 * c + 1) - acceleration(2 * c);
    const Bound late = factors.solve(drift);
    for (int b = 0; b < BOUND; ++b) a[bound[b]] -= late[b];
  }

  // W (parameter, freedom) of the sample: each body's J [T a], from the ground outwards.
  void regress(double* W) {
    carried[0].setZero();
    carried[0].template topRightCorner<3, 1>() = -model.gravity.linear();
    for (int j = 1; j < model.njoints; ++j, W += 10 * FREE) {
      auto& X = carried[j];
      X = carried[model.parents[j]];
      for (int i = model.idx_vs[j]; i < model.idx_vs[j] + model.nvs[j]; ++i) {
        X.template leftCols<FREE>().noalias() += data.J.col(i).lazyProduct(T.row(i));
        X.template rightCols<1>() += data.J.col(i) * a[i];
      }
      const Eigen::Matrix3d R = data.oMi[j].rotation().transpose();
      Eigen::Matrix<double, 6, FREE + 1> local;
      local.template bottomRows<3>().noalias() = R * X.template bottomRows<3>();
      for (int f = 0; f <= FREE; ++f)
        local.template block<3, 1>(0, f).noalias() =
            R * (X.template block<3, 1>(0, f) -
                 data.oMi[j].translation().cross(X.template block<3, 1>(3, f)));
      pin::Motion A = data.a[j];
      A.toVector() += local.template rightCols<1>();
      pin::bodyRegressor(data.v[j], A, Y);
      Eigen::Map<Eigen::Matrix<double, FREE, 10>>(W).noalias() =
          local.template leftCols<FREE>().transpose().lazyProduct(Y);
    }
  }

  const Batch& batch;
  Model model;
  Data data;
  std::vector<int> bound, column;  // dependent speeds; the column of C of each speed
  std::array<int, FREE> place;     // of free coordinates in q
  std::vector<Vector3d> points;
  std::vector<Eigen::Matrix<double, 6, FREE + 1>> carried;
  VectorXd q, moved, v, a, a_before, ahead, zero;
  Eigen::Matrix<double, FREE + BOUND, FREE> T;
  Eigen::Matrix<double, BOUND, BOUND + FREE> C;
  Eigen::PartialPivLU<Eigen::Matrix<double, BOUND, BOUND>> factors;
  Eigen::Matrix<double, 6, 10> Y;
  Bound gap, drift;
};

template <int FREE, int BOUND>
int run(const Model& model, const Batch& batch) {
  Loops<FREE, BOUND> loops(model, batch);
  int open = 0;
  for (int n = 0; n < batch.variants; ++n) open += !loops.follow(n);
  return open;
}

// How many variants did not close; -1 of a mechanism whose sizes are not compiled.
extern "C" __attribute__((visibility("default"))) int run_batch(const Batch* batch) {
  Model model;
  model.gravity.linear() = Vector3d::Map(batch->gravity);
  for (int j = 0; j < batch->joints; ++j) {
    const auto add = [&](const auto& joint) {
      model.addJoint(batch->parents[j], joint, pin::SE3::Identity(), std::to_string(j));
    };
    switch (batch->kinds[j]) {
      case 0: add(Revolute()); break;
      case 1: add(Prismatic()); break;
      case 2: add(Universal(Vector3d::UnitZ(), Vector3d::UnitX())); break;
      case 3: add(Spherical()); break;
    }
  }
  const int free = batch->freedoms, bound = model.nv - free;
  if (bound != 3 * batch->cuts) return -1;
  if (free == 3 && bound == 6) return run<3, 6>(model, *batch);    // 3-RPS
  if (free == 6 && bound == 15) return run<6, 15>(model, *batch);  // 6-UPS
  if (free == 2 && bound == 9) return run<2, 9>(model, *batch);    // SLA suspension
  return -1;
}
